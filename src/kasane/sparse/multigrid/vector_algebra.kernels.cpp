#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

namespace kasane::sparse {
namespace {

using Sums = VectorSums;

KS_FN void add(Sums& sums, double term) { sums.first += term; }
KS_FN void add(Sums& sums, const Sums& terms) { sums.first += terms.first, sums.second += terms.second; }

struct ProductAndSquare {
    const double *x, *y;
    KS_FN Sums operator()(index_t i) const { return {x[i] * y[i], x[i] * x[i]}; }
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
    KS_FN Sums operator()(index_t i) const {
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

/// The sums of the terms of neighbouring entries, one for each run.
template <class Term>
void sum_runs(Cpu on, index_t n, const Term& term, Sums* partial) {
    constexpr index_t runs = VectorAlgebra<Cpu>::runs;
    constexpr index_t parallel_from = 1 << 15;  // a shorter sum takes less time than waking the threads
    const int threads = n < parallel_from ? 1 : thread_count(on);
    const index_t parts = threads > 1 ? std::min<index_t>(runs, index_t{16} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t run = runs * part / parts; run < runs * (part + 1) / parts; ++run) {
            Sums sums{};
            for (index_t i = n * run / runs; i < n * (run + 1) / runs; ++i) add(sums, term(i));
            partial[run] = sums;
        }
    });
}

#if defined(__CUDACC__)
constexpr int sum_threads = 256;

/// A block has a run: the terms of its threads, then the sum of the block as a tree.
template <class Term>
__global__ void __launch_bounds__(sum_threads) sum_run_of_block(index_t n, Term term, Sums* partial) {
    __shared__ Sums shared[sum_threads];
    const auto thread = threadIdx.x;
    Sums sums{};
    for (index_t i = static_cast<index_t>(blockIdx.x) * sum_threads + thread; i < n; i += static_cast<index_t>(gridDim.x) * sum_threads)
        add(sums, term(i));
    shared[thread] = sums;
    for (unsigned reach = sum_threads / 2; reach > 0; reach /= 2) {
        __syncthreads();
        if (thread < reach) add(shared[thread], shared[thread + reach]);
    }
    if (thread == 0) partial[blockIdx.x] = shared[0];
}

template <class Term>
void sum_runs(Cuda on, index_t n, const Term& term, Sums* partial) {
    KS_CUDA(cudaSetDevice(on.device));
    sum_run_of_block<<<VectorAlgebra<Cuda>::runs, sum_threads, 0, on.stream>>>(n, term, partial);
    KS_CUDA(cudaGetLastError());
}
#endif

}  // namespace

template <Space S>
VectorAlgebra<S>::VectorAlgebra(S on) : on_(on), partial_(on, runs) {}

template <Space S>
template <class Term>
VectorSums VectorAlgebra<S>::sum(index_t n, const Term& term) {
    sum_runs(on_, n, term, partial_.data());
    Sums partial[runs];
    copy_to_host(on_, View<Sums>(partial, runs), View<const Sums>(partial_.view()));
    Sums total{};
    for (const auto& of_run : partial) add(total, of_run);
    return total;
}

template <Space S>
double VectorAlgebra<S>::dot(const Vector& x, const Vector& y) {
    return sum(x.size(), Product{x.data(), y.data()}).first;
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::dot_norm2(const Vector& x, const Vector& y) {
    const auto sums = sum(x.size(), ProductAndSquare{x.data(), y.data()});
    return {sums.first, sums.second};
}

template <Space S>
void VectorAlgebra<S>::axpby(double a, const Vector& x, double b, Vector& y) {
    parallel_for(on_, y.size(), Combine{a, b, x.data(), y.data()});
}

template <Space S>
double VectorAlgebra<S>::axpy_norm2(double a, const Vector& x, Vector& y) {
    return sum(x.size(), AddAndSquare{a, x.data(), y.data()}).first;
}

template <Space S>
void VectorAlgebra<S>::direction(const Vector& r, double beta, double omega, const Vector& v, Vector& p) {
    parallel_for(on_, p.size(), Direction{r.data(), beta, omega, v.data(), p.data()});
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::finish(double alpha, const Vector& p, double omega, const Vector& t, const Vector& shadow,
                                                   Vector& x, Vector& r) {
    const auto sums = sum(x.size(), Finish{alpha, omega, p.data(), t.data(), shadow.data(), x.data(), r.data()});
    return {sums.first, sums.second};
}

template <Space S>
double VectorAlgebra<S>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    return sum(x.size(), StepBoth{a, p.data(), q.data(), x.data(), r.data()}).first;
}

template <Space S>
double VectorAlgebra<S>::remove_mean(Vector& x) {
    const double mean = sum(x.size(), Entry{x.data()}).first / static_cast<double>(x.size());
    parallel_for(on_, x.size(), Lower{mean, x.data()});
    return mean;
}

template class VectorAlgebra<KS_SPACE>;

}  // namespace kasane::sparse
