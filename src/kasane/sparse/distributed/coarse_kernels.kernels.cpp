#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/distributed/coarse_kernels.hpp>

namespace kasane::sparse {
namespace {

template <class T>
struct SumSegment {
    const std::int32_t *begin, *index;
    const T *weight, *x;
    T* sums;
    KS_FN void operator()(index_t k) const {
        T sum = real_number<T>(0);
        for (auto e = begin[k]; e < begin[k + 1]; ++e) {
            const auto i = index != nullptr ? index[e] : e;
            if constexpr (std::same_as<T, double>)
                sum += x[i];
            else
                sum += weight != nullptr ? conjugate_product(weight[i], x[i]) : x[i];
        }
        sums[k] = sum;
    }
};

template <class T>
struct TimesTransposed {
    View<const T> transposed, x;
    View<T> y;
    KS_FN void operator()(index_t k) const {
        T sum = real_number<T>(0);
        for (index_t c = 0; c < x.n; ++c) sum += transposed.ptr[c * y.n + k] * x.ptr[c];
        y.ptr[k] = sum;
    }
};

template <class T>
struct AddToAggregate {
    const std::int32_t* aggregate;
    const T *weight, *y;
    T* x;
    KS_FN void operator()(index_t i) const {
        if constexpr (std::same_as<T, double>)
            x[i] += y[aggregate[i]];
        else
            x[i] += weight[i] * y[aggregate[i]];
    }
};

}  // namespace

template <Space S, class T>
void sum_segments(S on, View<const std::int32_t> begin, View<const std::int32_t> index, View<const T> weight, View<const T> x,
                  View<T> sums) {
    parallel_for(on, sums.n, SumSegment<T>{begin.ptr, index.ptr, weight.ptr, x.ptr, sums.ptr});
}
template <Space S, class T>
void dense_times(S on, View<const T> transposed, View<const T> x, View<T> y) {
    parallel_for(on, y.n, TimesTransposed<T>{transposed, x, y});
}
template <Space S, class T>
void add_to_aggregates(S on, View<const std::int32_t> aggregate, View<const T> weight, View<const T> y, View<T> x) {
    parallel_for(on, x.n, AddToAggregate<T>{aggregate.ptr, weight.ptr, y.ptr, x.ptr});
}

#define KS_OF_NUMBERS(T)                                                                                                             \
    template void sum_segments(KS_SPACE, View<const std::int32_t>, View<const std::int32_t>, View<const T>, View<const T>, View<T>); \
    template void dense_times(KS_SPACE, View<const T>, View<const T>, View<T>);                                                      \
    template void add_to_aggregates(KS_SPACE, View<const std::int32_t>, View<const T>, View<const T>, View<T>);
KS_OF_NUMBERS(double)
KS_OF_NUMBERS(ComplexNumber)
#undef KS_OF_NUMBERS

}  // namespace kasane::sparse
