#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

namespace kasane::sparse {
namespace {

struct ProductAndSquare {
    const double *x, *y;
    KS_FN VectorSums operator()(index_t i) const { return {x[i] * y[i], x[i] * x[i]}; }
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
    KS_FN VectorSums operator()(index_t i) const {
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

}  // namespace

template <Space S>
VectorAlgebra<S>::VectorAlgebra(S on) : on_(on), partial_(on, sum_runs_count) {}

template <Space S>
template <class Term>
VectorSums VectorAlgebra<S>::sum(index_t n, const Term& term) {
    return sum_in_runs(on_, n, term, partial_);
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
