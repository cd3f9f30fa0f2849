#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/distributed/coarse_kernels.hpp>

namespace kasane::sparse {
namespace {

struct SumSegment {
    const std::int32_t *begin, *index;
    const double* x;
    double* sums;
    KS_FN void operator()(index_t k) const {
        double sum = 0;
        for (auto e = begin[k]; e < begin[k + 1]; ++e) sum += x[index != nullptr ? index[e] : e];
        sums[k] = sum;
    }
};

struct TimesTransposed {
    View<const double> transposed, x;
    View<double> y;
    KS_FN void operator()(index_t k) const {
        double sum = 0;
        for (index_t c = 0; c < x.n; ++c) sum += transposed.ptr[c * y.n + k] * x.ptr[c];
        y.ptr[k] = sum;
    }
};

struct AddToAggregate {
    const std::int32_t* aggregate;
    const double* y;
    double* x;
    KS_FN void operator()(index_t i) const { x[i] += y[aggregate[i]]; }
};

}  // namespace

template <Space S>
void sum_segments(S on, View<const std::int32_t> begin, View<const std::int32_t> index, View<const double> x, View<double> sums) {
    parallel_for(on, sums.n, SumSegment{begin.ptr, index.ptr, x.ptr, sums.ptr});
}
template <Space S>
void dense_times(S on, View<const double> transposed, View<const double> x, View<double> y) {
    parallel_for(on, y.n, TimesTransposed{transposed, x, y});
}
template <Space S>
void add_to_aggregates(S on, View<const std::int32_t> aggregate, View<const double> y, View<double> x) {
    parallel_for(on, x.n, AddToAggregate{aggregate.ptr, y.ptr, x.ptr});
}

template void sum_segments(KS_SPACE, View<const std::int32_t>, View<const std::int32_t>, View<const double>, View<double>);
template void dense_times(KS_SPACE, View<const double>, View<const double>, View<double>);
template void add_to_aggregates(KS_SPACE, View<const std::int32_t>, View<const double>, View<double>);

}  // namespace kasane::sparse
