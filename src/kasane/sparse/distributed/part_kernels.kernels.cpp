#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>

namespace kasane::sparse {
namespace {

struct GatherBoth {
    View<const double> x, more;
    const std::int32_t* from;
    double* to;
    KS_FN void operator()(index_t k) const { to[k] = from[k] < x.n ? x.ptr[from[k]] : more.ptr[from[k] - x.n]; }
};

struct AddProductRow {
    RowsView<double> A;
    const std::int32_t* row;
    const double* x;
    double* y;
    KS_FN void operator()(index_t k) const { y[row[k]] += A.times(k, x); }
};

}  // namespace

template <Space S>
void gather(S on, View<const double> x, View<const double> more, View<const std::int32_t> from, View<double> to) {
    parallel_for(on, to.n, GatherBoth{x, more, from.ptr, to.ptr});
}

template <Space S>
void add_product(S on, const RowsView<double>& A, View<const std::int32_t> row, View<const double> x, View<double> y) {
    parallel_for(on, A.rows, AddProductRow{A, row.ptr, x.ptr, y.ptr});
}

template void gather(KS_SPACE, View<const double>, View<const double>, View<const std::int32_t>, View<double>);
template void add_product(KS_SPACE, const RowsView<double>&, View<const std::int32_t>, View<const double>, View<double>);

}  // namespace kasane::sparse
