// The complex operations of krylov/algebra.hpp on std::vector<std::complex<T>>, written plainly; with `digits` > 0 every stored number is
// rounded to that many binary digits, in place of half precision.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace kasane::krylov::test {

template <class T, int digits = 0>
class ComplexAlgebra {
   public:
    using Vector = std::vector<std::complex<T>>;
    using Scalar = std::complex<double>;

    static std::complex<T> stored(Scalar value) {
        if constexpr (digits > 0) value = {rounded(value.real()), rounded(value.imag())};
        return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
    }
    static Scalar at(const Vector& x, std::size_t i) { return {static_cast<double>(x[i].real()), static_cast<double>(x[i].imag())}; }

    Vector like(const Vector& x) const { return Vector(x.size()); }
    void copy(const Vector& x, Vector& y) { y = x; }
    void zero(Vector& y) { y.assign(y.size(), {}); }
    double norm2(const Vector& x) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += square(x[i]);
        return sum;
    }
    Scalar dot(const Vector& x, const Vector& y) {
        Scalar sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(at(x, i)) * at(y, i);
        return sum;
    }
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = stored(b == 0. ? a * at(x, i) : a * at(x, i) + b * at(y, i));
    }
    double axpy_norm2(Scalar a, const Vector& x, Vector& y) {
        axpby(a, x, 1, y);
        return norm2(y);
    }
    std::pair<Scalar, double> dot_norm2(const Vector& x, const Vector& y) { return {dot(x, y), norm2(x)}; }
    void direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) {
        for (std::size_t i = 0; i < r.size(); ++i) p[i] = stored(at(r, i) + beta * (at(p, i) - omega * at(v, i)));
    }
    std::pair<Scalar, double> finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r) {
        for (std::size_t i = 0; i < r.size(); ++i) {
            x[i] = stored(at(x, i) + alpha * at(p, i) + omega * at(r, i));
            r[i] = stored(at(r, i) - omega * at(t, i));
        }
        return {dot(shadow, r), norm2(r)};
    }
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
        axpby(a, p, 1, x);
        axpby(-a, q, 1, r);
        return norm2(r);
    }

   private:
    static double rounded(double value) {
        int exponent = 0;
        const double fraction = std::frexp(value, &exponent);
        return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
    }
    /// In T: as a device squares floats.
    static double square(std::complex<T> value) { return static_cast<double>(value.real() * value.real() + value.imag() * value.imag()); }
};

using DoubleAlgebra = ComplexAlgebra<double>;
using FloatAlgebra = ComplexAlgebra<float>;

}  // namespace kasane::krylov::test
