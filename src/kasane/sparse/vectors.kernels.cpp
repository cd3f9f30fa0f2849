// Permuting, scaling and summing vectors, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>
#include <kasane/sparse/vectors.hpp>

#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

struct Into {
    View<const std::int32_t> old_row;
    View<const double> scale, from;
    View<double> to;
    double unit;
    bool divide;
    KS_FN void operator()(index_t row) const {
        const std::int32_t old = old_row[row];
        to[row] = old < 0 ? 0 : divide ? from[old] * unit / scale[row] : from[old] * unit * scale[row];
    }
};

struct OutOf {
    View<const std::int32_t> old_row;
    View<const double> scale, from;
    View<double> to;
    double unit;
    KS_FN void operator()(index_t row) const {
        const std::int32_t old = old_row[row];
        if (old >= 0) to[old] = from[row] * scale[row] * unit;
    }
};

struct Subtract {
    View<const double> from;
    double shift;
    View<double> to;
    KS_FN void operator()(index_t i) const { to[i] = from[i] - shift; }
};

/// A sum whose result is the largest finite size, and whether all are finite.
struct Sizes {
    double largest;
    bool not_finite;
    KS_FN Sizes& operator+=(const Sizes& other) {
        if (other.largest > largest) largest = other.largest;
        not_finite = not_finite || other.not_finite;
        return *this;
    }
};

struct SizeOf {
    View<const double> x;
    KS_FN Sizes operator()(index_t i) const {
        const double a = std::fabs(x[i]);
        const bool finite = a - a == 0;
        return {finite ? a : 0, !finite};
    }
};

struct Squares {
    View<const double> x;
    double unit, shift;
    KS_FN Terms<1> operator()(index_t i) const {
        const double a = unit * x[i] - shift;
        return {a * a};
    }
};

struct Plain {
    View<const double> x;
    KS_FN Terms<1> operator()(index_t i) const { return {x[i]}; }
};

/// The sum of body(i) for i of [0, n); on the CPU in the runs of run_sums.hpp.
template <class V, class Body>
V over_all(Cpu on, index_t n, const Body& body) {
    std::vector<V> of_run(sum_runs_count);
    for_each_run(on, n, [&](index_t run, index_t i, index_t end) {
        V sum{};
        for (; i < end; ++i) sum += body(i);
        of_run[static_cast<std::size_t>(run)] = sum;
    });
    V total{};
    for (const V& sum : of_run) total += sum;
    return total;
}
#if defined(__CUDACC__)
template <class V, class Body>
V over_all(Cuda on, index_t n, const Body& body) {
    return reduce<V>(on, n, body);
}
#endif

}  // namespace

template <Space S>
void into_system(S on, const Layout<S>& layout, View<const double> scale, bool divide, double unit, View<const double> from,
                 View<double> to) {
    parallel_for(on, layout.padded, Into{layout.old_row.view(), scale, from, to, unit, divide});
}

template <Space S>
void out_of_system(S on, const Layout<S>& layout, View<const double> scale, double unit, View<const double> from, View<double> to) {
    parallel_for(on, layout.padded, OutOf{layout.old_row.view(), scale, from, to, unit});
    synchronize(on);
}

template <Space S>
VectorFacts look_at(S on, View<const double> x) {
    const auto sizes = over_all<Sizes>(on, x.n, SizeOf{x});
    return {sizes.largest, !sizes.not_finite};
}

template <Space S>
double sum_of_squares(S on, View<const double> x, double unit, double shift) {
    return over_all<Terms<1>>(on, x.n, Squares{x, unit, shift})[0];
}

template <Space S>
double mean(S on, View<const double> x) {
    return over_all<Terms<1>>(on, x.n, Plain{x})[0] / static_cast<double>(x.n);
}

template <Space S>
void subtract(S on, View<const double> from, double shift, View<double> to) {
    parallel_for(on, from.n, Subtract{from, shift, to});
    synchronize(on);
}

template void into_system(KS_SPACE, const Layout<KS_SPACE>&, View<const double>, bool, double, View<const double>, View<double>);
template void out_of_system(KS_SPACE, const Layout<KS_SPACE>&, View<const double>, double, View<const double>, View<double>);
template VectorFacts look_at(KS_SPACE, View<const double>);
template double sum_of_squares(KS_SPACE, View<const double>, double, double);
template double mean(KS_SPACE, View<const double>);
template void subtract(KS_SPACE, View<const double>, double, View<double>);

}  // namespace kasane::sparse
