// A complex number for the scalars of recurrences, which may run on a device, where std::complex is not available. Invariant: products are
// rounded before they are added, so that host and device compute the same bits.
#pragma once

#include <kasane/core/base/types.hpp>

#include <complex>

namespace kasane::krylov {

/// a b, rounded: a device's compiler must not merge it with an addition.
KS_FN double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

/// re + i im
struct Complex {
    double re = 0;  ///< real part
    double im = 0;  ///< imaginary part

    /// Zero.
    Complex() = default;
    /// @param real, imaginary  the parts; implicit from a real number
    KS_FN Complex(double real, double imaginary = 0) : re(real), im(imaginary) {}
    /// From the standard's type.
    Complex(std::complex<double> z) : re(z.real()), im(z.imag()) {}
    /// To the standard's type.
    operator std::complex<double>() const { return {re, im}; }

    /// -z
    KS_FN friend Complex operator-(Complex z) { return {-z.re, -z.im}; }
    /// a b
    KS_FN friend Complex operator*(Complex a, Complex b) {
        return {rounded_product(a.re, b.re) - rounded_product(a.im, b.im), rounded_product(a.re, b.im) + rounded_product(a.im, b.re)};
    }
    /// z / x
    KS_FN friend Complex operator/(Complex z, double x) { return {z.re / x, z.im / x}; }
    /// a / b; |b|^2 must be in the range of doubles.
    KS_FN friend Complex operator/(Complex a, Complex b) {
        const double inverse = 1 / square(b);
        const Complex product = a * Complex(b.re, -b.im);
        return {product.re * inverse, product.im * inverse};
    }
    /// |z|^2
    KS_FN friend double square(Complex z) { return rounded_product(z.re, z.re) + rounded_product(z.im, z.im); }
};

/// The type in which recurrences compute the scalars of an algebra.
template <class Scalar>
struct RecurrenceScalarOf {
    using Type = Scalar;  ///< the same
};
/// For complex scalars: Complex.
template <>
struct RecurrenceScalarOf<std::complex<double>> {
    using Type = Complex;  ///< on host and device
};
/// The same, in short.
template <class Scalar>
using RecurrenceScalar = typename RecurrenceScalarOf<Scalar>::Type;

/// The complex conjugate of z.
KS_FN Complex conjugate(Complex z) { return {z.re, -z.im}; }

}  // namespace kasane::krylov
