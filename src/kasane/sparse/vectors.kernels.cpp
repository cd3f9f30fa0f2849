// Permuting, scaling and summing vectors, once per Space. A sum: over a fixed number of runs of neighbouring entries, then over the runs.
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/vectors.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

#if defined(__CUDACC__)
constexpr index_t runs = 65536;  ///< enough to fill a device
#else
constexpr index_t runs = 1024;
#endif

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

/// The entries of a run are neighbours and the number of runs is fixed, so that the order of a sum does not depend on the threads.
struct Run {
    index_t n;
    KS_FN index_t begin(index_t run) const { return n * run / runs; }
};

struct Largest {
    View<const double> x;
    View<double> out;
    KS_FN void operator()(index_t run) const {
        double most = 0;
        bool finite = true;
        for (index_t i = Run{x.n}.begin(run); i < Run{x.n}.begin(run + 1); ++i) {
            const double a = std::fabs(x[i]);
            if (!(a - a == 0))
                finite = false;
            else if (a > most)
                most = a;
        }
        out[run] = finite ? most : -1;
    }
};

struct Squares {
    View<const double> x;
    double unit, shift;
    View<double> out;
    KS_FN void operator()(index_t run) const {
        double sum = 0;
        for (index_t i = Run{x.n}.begin(run); i < Run{x.n}.begin(run + 1); ++i) {
            const double a = unit * x[i] - shift;
            sum += a * a;
        }
        out[run] = sum;
    }
};

struct Plain {
    View<const double> x;
    View<double> out;
    KS_FN void operator()(index_t run) const {
        double sum = 0;
        for (index_t i = Run{x.n}.begin(run); i < Run{x.n}.begin(run + 1); ++i) sum += x[i];
        out[run] = sum;
    }
};

void each_run(Cpu on, const auto& body) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index_t run = 0; run < runs; ++run) body(run);
}
#if defined(__CUDACC__)
template <class Body>
void each_run(Cuda on, const Body& body) {
    parallel_for(on, runs, body);
}
#endif

template <Space S, class Make>
std::vector<double> over_runs(S on, Make make) {
    Buffer<double, S> out(on, runs);
    each_run(on, make(out.view()));
    return to_host(out);
}

double total(const std::vector<double>& parts) {
    double sum = 0;
    for (const double part : parts) sum += part;
    return sum;
}

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
    VectorFacts facts;
    for (const double most : over_runs(on, [&](View<double> out) { return Largest{x, out}; })) {
        facts.finite = facts.finite && most >= 0;
        facts.largest = std::max(facts.largest, most);
    }
    return facts;
}

template <Space S>
double sum_of_squares(S on, View<const double> x, double unit, double shift) {
    return total(over_runs(on, [&](View<double> out) { return Squares{x, unit, shift, out}; }));
}

template <Space S>
double mean(S on, View<const double> x) {
    return total(over_runs(on, [&](View<double> out) { return Plain{x, out}; })) / static_cast<double>(x.n);
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
