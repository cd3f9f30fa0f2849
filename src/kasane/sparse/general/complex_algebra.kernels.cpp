#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/general/complex_algebra.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>

namespace kasane::sparse {
namespace {

struct ComplexProduct {
    const ComplexNumber *x, *y;
    KS_FN ComplexSums operator()(index_t i) const { return {conjugate_product(x[i], y[i]), square(x[i])}; }
};

struct ComplexSquare {
    const ComplexNumber* x;
    KS_FN ComplexSums operator()(index_t i) const { return {{0, 0}, square(x[i])}; }
};

struct ComplexAddAndSquare {
    ComplexNumber a;
    const ComplexNumber* x;
    ComplexNumber* y;
    KS_FN ComplexSums operator()(index_t i) const {
        const ComplexNumber now = y[i] + a * x[i];
        y[i] = now;
        return {{0, 0}, square(now)};
    }
};

struct ComplexDirection {
    const ComplexNumber* r;
    ComplexNumber beta, omega;
    const ComplexNumber* v;
    ComplexNumber* p;
    KS_FN void operator()(index_t i) const { p[i] = r[i] + beta * (p[i] - omega * v[i]); }
};

struct ComplexFinish {
    ComplexNumber alpha, omega;
    const ComplexNumber *p, *t, *shadow;
    ComplexNumber *x, *r;
    KS_FN ComplexSums operator()(index_t i) const {
        const ComplexNumber before = r[i], now = before - omega * t[i];
        x[i] += alpha * p[i] + omega * before;
        r[i] = now;
        return {conjugate_product(shadow[i], now), square(now)};
    }
};

struct ComplexCombine {
    ComplexNumber a, b;
    bool reads_x, reads_y;
    const ComplexNumber* x;
    ComplexNumber* y;
    KS_FN void operator()(index_t i) const {
        const ComplexNumber of_x = reads_x ? a * x[i] : ComplexNumber{0, 0};
        y[i] = reads_y ? of_x + b * y[i] : of_x;
    }
};

ComplexNumber number_of(std::complex<double> z) { return {z.real(), z.imag()}; }
std::complex<double> standard(ComplexNumber z) { return {z.re, z.im}; }

}  // namespace

template <Space S>
ComplexAlgebra<S>::ComplexAlgebra(S on) : on_(on), partial_(on, sum_runs_count) {}

template <Space S>
template <class Term>
ComplexSums ComplexAlgebra<S>::sum(index_t n, const Term& term) {
    return sum_in_runs(on_, n, term, partial_);
}

template <Space S>
std::complex<double> ComplexAlgebra<S>::dot(const Vector& x, const Vector& y) {
    return standard(sum(x.size(), ComplexProduct{x.data(), y.data()}).product);
}

template <Space S>
double ComplexAlgebra<S>::norm2(const Vector& x) {
    return sum(x.size(), ComplexSquare{x.data()}).square;
}

template <Space S>
std::pair<std::complex<double>, double> ComplexAlgebra<S>::dot_norm2(const Vector& x, const Vector& y) {
    const auto sums = sum(x.size(), ComplexProduct{x.data(), y.data()});
    return {standard(sums.product), sums.square};
}

template <Space S>
void ComplexAlgebra<S>::axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
    parallel_for(on_, y.size(), ComplexCombine{number_of(a), number_of(b), a != Scalar(0), b != Scalar(0), x.data(), y.data()});
}

template <Space S>
double ComplexAlgebra<S>::axpy_norm2(Scalar a, const Vector& x, Vector& y) {
    return sum(x.size(), ComplexAddAndSquare{number_of(a), x.data(), y.data()}).square;
}

template <Space S>
void ComplexAlgebra<S>::direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) {
    parallel_for(on_, p.size(), ComplexDirection{r.data(), number_of(beta), number_of(omega), v.data(), p.data()});
}

template <Space S>
std::pair<std::complex<double>, double> ComplexAlgebra<S>::finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t,
                                                                  const Vector& shadow, Vector& x, Vector& r) {
    const auto sums =
        sum(x.size(), ComplexFinish{number_of(alpha), number_of(omega), p.data(), t.data(), shadow.data(), x.data(), r.data()});
    return {standard(sums.product), sums.square};
}

template class ComplexAlgebra<KS_SPACE>;

}  // namespace kasane::sparse
