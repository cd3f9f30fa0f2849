#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

namespace kasane::sparse {
namespace {

/// Runs of a sum: enough to fill a space.
template <Space S>
constexpr index_t runs_of_sum = std::same_as<S, Cpu> ? 1024 : 16384;

/// partial[run] = sum of term(i) over the entries of a run. On CUDA neighbouring threads read neighbouring entries.
template <class Term>
struct SumRuns {
    index_t n, runs;
    Term term;
    double* partial;
    KS_FN void operator()(index_t run) const {
        double sum = 0;
#if defined(__CUDACC__)
        for (index_t i = run; i < n; i += runs) sum += term(i);
#else
        for (index_t i = n * run / runs; i < n * (run + 1) / runs; ++i) sum += term(i);
#endif
        partial[run] = sum;
    }
};

struct Product {
    const double *x, *y;
    KS_FN double operator()(index_t i) const { return x[i] * y[i]; }
};

struct Entry {
    const double* x;
    KS_FN double operator()(index_t i) const { return x[i]; }
};

struct StepBoth {
    double a;
    const double *p, *q;
    double *x, *r;
    KS_FN double operator()(index_t i) const {
        x[i] += a * p[i];
        const double now = r[i] - a * q[i];
        r[i] = now;
        return now * now;
    }
};

struct Combine {
    double a, b;
    const double* x;
    double* y;
    KS_FN void operator()(index_t i) const { y[i] = b == 0 ? (a == 0 ? 0 : a * x[i]) : a == 0 ? b * y[i] : a * x[i] + b * y[i]; }
};

struct Lower {
    double by;
    double* x;
    KS_FN void operator()(index_t i) const { x[i] -= by; }
};

void each_run(Cpu on, index_t runs, index_t n, const auto& body) {
    constexpr index_t parallel_from = 1 << 15;  // a shorter sum takes less time than waking the threads
    const int threads = n < parallel_from ? 1 : thread_count(on);
    const index_t parts = threads > 1 ? std::min<index_t>(runs, index_t{16} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t run = runs * part / parts; run < runs * (part + 1) / parts; ++run) body(run);
    });
}
#if defined(__CUDACC__)
template <class Body>
void each_run(Cuda on, index_t runs, index_t, const Body& body) {
    parallel_for(on, runs, body);
}
#endif

}  // namespace

template <Space S>
VectorAlgebra<S>::VectorAlgebra(S on) : on_(on), partial_(on, runs_of_sum<S>), host_(static_cast<std::size_t>(runs_of_sum<S>)) {}

template <Space S>
double VectorAlgebra<S>::total() {
    copy_to_host(on_, view(host_), View<const double>(partial_.view()));
    double sum = 0;
    for (const double part : host_) sum += part;
    return sum;
}

template <Space S>
double VectorAlgebra<S>::dot(const Vector& x, const Vector& y) {
    each_run(on_, runs_of_sum<S>, x.size(), SumRuns<Product>{x.size(), runs_of_sum<S>, {x.data(), y.data()}, partial_.data()});
    return total();
}

template <Space S>
void VectorAlgebra<S>::axpby(double a, const Vector& x, double b, Vector& y) {
    parallel_for(on_, y.size(), Combine{a, b, x.data(), y.data()});
}

template <Space S>
double VectorAlgebra<S>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    each_run(on_, runs_of_sum<S>, x.size(),
             SumRuns<StepBoth>{x.size(), runs_of_sum<S>, {a, p.data(), q.data(), x.data(), r.data()}, partial_.data()});
    return total();
}

template <Space S>
double VectorAlgebra<S>::remove_mean(Vector& x) {
    each_run(on_, runs_of_sum<S>, x.size(), SumRuns<Entry>{x.size(), runs_of_sum<S>, {x.data()}, partial_.data()});
    const double mean = total() / static_cast<double>(x.size());
    parallel_for(on_, x.size(), Lower{mean, x.data()});
    return mean;
}

template class VectorAlgebra<KS_SPACE>;

}  // namespace kasane::sparse
