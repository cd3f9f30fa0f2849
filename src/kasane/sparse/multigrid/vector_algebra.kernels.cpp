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

struct TwoTerms {
    double first, second;
};

/// The same for two sums at once: the second begins at partial[runs].
template <class Term>
struct SumTwoRuns {
    index_t n, runs;
    Term term;
    double* partial;
    KS_FN void operator()(index_t run) const {
        double first = 0, second = 0;
        const auto add = [&](index_t i) {
            const TwoTerms terms = term(i);
            first += terms.first;
            second += terms.second;
        };
#if defined(__CUDACC__)
        for (index_t i = run; i < n; i += runs) add(i);
#else
        for (index_t i = n * run / runs; i < n * (run + 1) / runs; ++i) add(i);
#endif
        partial[run] = first;
        partial[runs + run] = second;
    }
};

struct ProductAndSquare {
    const double *x, *y;
    KS_FN TwoTerms operator()(index_t i) const { return {x[i] * y[i], x[i] * x[i]}; }
};

struct AddAndSquare {
    double a;
    const double* x;
    double* y;
    KS_FN double operator()(index_t i) const {
        const double now = y[i] + a * x[i];
        y[i] = now;
        return now * now;
    }
};

struct Direction {
    const double* r;
    double beta, omega;
    const double* v;
    double* p;
    KS_FN void operator()(index_t i) const { p[i] = r[i] + beta * (p[i] - omega * v[i]); }
};

struct Finish {
    double alpha, omega;
    const double *p, *t, *shadow;
    double *x, *r;
    KS_FN TwoTerms operator()(index_t i) const {
        const double before = r[i];
        x[i] += alpha * p[i] + omega * before;
        const double now = before - omega * t[i];
        r[i] = now;
        return {shadow[i] * now, now * now};
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
VectorAlgebra<S>::VectorAlgebra(S on) : on_(on), partial_(on, 2 * runs_of_sum<S>), host_(static_cast<std::size_t>(2 * runs_of_sum<S>)) {}

template <Space S>
void VectorAlgebra<S>::fetch(index_t values) {
    copy_to_host(on_, View<double>(host_.data(), values), View<const double>(partial_.data(), values));
}

template <Space S>
double VectorAlgebra<S>::total(index_t first) {
    double sum = 0;
    for (index_t k = 0; k < runs_of_sum<S>; ++k) sum += host_[static_cast<std::size_t>(first + k)];
    return sum;
}

template <Space S>
template <class Term>
double VectorAlgebra<S>::sum(index_t n, const Term& term) {
    each_run(on_, runs_of_sum<S>, n, SumRuns<Term>{n, runs_of_sum<S>, term, partial_.data()});
    fetch(runs_of_sum<S>);
    return total(0);
}

template <Space S>
template <class Term>
std::pair<double, double> VectorAlgebra<S>::two_sums(index_t n, const Term& term) {
    each_run(on_, runs_of_sum<S>, n, SumTwoRuns<Term>{n, runs_of_sum<S>, term, partial_.data()});
    fetch(2 * runs_of_sum<S>);
    return {total(0), total(runs_of_sum<S>)};
}

template <Space S>
double VectorAlgebra<S>::dot(const Vector& x, const Vector& y) {
    return sum(x.size(), Product{x.data(), y.data()});
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::dot_norm2(const Vector& x, const Vector& y) {
    return two_sums(x.size(), ProductAndSquare{x.data(), y.data()});
}

template <Space S>
void VectorAlgebra<S>::axpby(double a, const Vector& x, double b, Vector& y) {
    parallel_for(on_, y.size(), Combine{a, b, x.data(), y.data()});
}

template <Space S>
double VectorAlgebra<S>::axpy_norm2(double a, const Vector& x, Vector& y) {
    return sum(x.size(), AddAndSquare{a, x.data(), y.data()});
}

template <Space S>
void VectorAlgebra<S>::direction(const Vector& r, double beta, double omega, const Vector& v, Vector& p) {
    parallel_for(on_, p.size(), Direction{r.data(), beta, omega, v.data(), p.data()});
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::finish(double alpha, const Vector& p, double omega, const Vector& t, const Vector& shadow,
                                                   Vector& x, Vector& r) {
    return two_sums(x.size(), Finish{alpha, omega, p.data(), t.data(), shadow.data(), x.data(), r.data()});
}

template <Space S>
double VectorAlgebra<S>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    return sum(x.size(), StepBoth{a, p.data(), q.data(), x.data(), r.data()});
}

template <Space S>
double VectorAlgebra<S>::remove_mean(Vector& x) {
    const double mean = sum(x.size(), Entry{x.data()}) / static_cast<double>(x.size());
    parallel_for(on_, x.size(), Lower{mean, x.data()});
    return mean;
}

template class VectorAlgebra<KS_SPACE>;

}  // namespace kasane::sparse
