// A complex number for the scalars of recurrences that run on a device, where std::complex is not available.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <complex>

namespace kasane::krylov {

/// re + i im
struct Complex {
    double re = 0;  ///< real part
    double im = 0;  ///< imaginary part

    /// Zero.
    Complex() = default;
    /// @param real, imaginary  the parts
    KS_FN Complex(double real, double imaginary) : re(real), im(imaginary) {}
    /// From the standard's type.
    Complex(std::complex<double> z) : re(z.real()), im(z.imag()) {}
    /// To the standard's type.
    operator std::complex<double>() const { return {re, im}; }

    /// -z
    KS_FN friend Complex operator-(Complex z) { return {-z.re, -z.im}; }
    /// a b
    KS_FN friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
    /// z / x
    KS_FN friend Complex operator/(Complex z, double x) { return {z.re / x, z.im / x}; }
    /// a / b, by the larger part of b first, so that no square overflows or vanishes [Smith 1962].
    KS_FN friend Complex operator/(Complex a, Complex b) {
        if (fabs(b.re) >= fabs(b.im)) {
            const double ratio = b.im / b.re, whole = b.re + b.im * ratio;
            return {(a.re + a.im * ratio) / whole, (a.im - a.re * ratio) / whole};
        }
        const double ratio = b.re / b.im, whole = b.im + b.re * ratio;
        return {(a.re * ratio + a.im) / whole, (a.im * ratio - a.re) / whole};
    }
};

/// The complex conjugate of z.
KS_FN Complex conjugate(Complex z) { return {z.re, -z.im}; }
/// |z|
KS_FN double magnitude(Complex z) { return hypot(z.re, z.im); }

}  // namespace kasane::krylov
