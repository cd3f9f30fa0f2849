#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>

namespace kasane::sparse {
namespace {

template <class T>
struct GatherBoth {
    View<const T> x, more;
    const std::int32_t* from;
    T* to;
    KS_FN void operator()(index_t k) const { to[k] = from[k] < x.n ? x.ptr[from[k]] : more.ptr[from[k] - x.n]; }
};

template <class T>
struct AddProductRow {
    RowsView<T> A;
    const std::int32_t* row;
    const T* x;
    T* y;
    KS_FN void operator()(index_t k) const {
        T sum = real_number<T>(0);
        for (std::uint32_t e = A.begin[k]; e < A.begin[k + 1]; ++e) sum += A.value[e] * x[A.column[e]];
        y[row[k]] += sum;
    }
};

}  // namespace

template <Space S, class T>
void gather(S on, View<const T> x, View<const T> more, View<const std::int32_t> from, View<T> to) {
    parallel_for(on, to.n, GatherBoth<T>{x, more, from.ptr, to.ptr});
}

template <Space S, class T>
void add_product(S on, const RowsView<T>& A, View<const std::int32_t> row, View<const T> x, View<T> y) {
    parallel_for(on, A.rows, AddProductRow<T>{A, row.ptr, x.ptr, y.ptr});
}

template void gather(KS_SPACE, View<const double>, View<const double>, View<const std::int32_t>, View<double>);
template void add_product(KS_SPACE, const RowsView<double>&, View<const std::int32_t>, View<const double>, View<double>);
template void gather(KS_SPACE, View<const ComplexNumber>, View<const ComplexNumber>, View<const std::int32_t>, View<ComplexNumber>);
template void add_product(KS_SPACE, const RowsView<ComplexNumber>&, View<const std::int32_t>, View<const ComplexNumber>,
                          View<ComplexNumber>);

}  // namespace kasane::sparse
