// Numbers of general systems on host and device: double, and ComplexNumber in place of std::complex<double>, which devices do not have.
// Invariant: a ComplexNumber has the layout of a std::complex<double>.
#pragma once

#include <kasane/core/base/types.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <limits>

namespace kasane::sparse {

/// re + i im
struct alignas(16) ComplexNumber {
    double re, im;
    KS_FN friend ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return {a.re + b.re, a.im + b.im}; }
    KS_FN friend ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return {a.re - b.re, a.im - b.im}; }
    KS_FN friend ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    KS_FN friend ComplexNumber operator*(double a, ComplexNumber b) { return {a * b.re, a * b.im}; }
    KS_FN friend ComplexNumber operator/(ComplexNumber a, double b) { return {a.re / b, a.im / b}; }
    KS_FN ComplexNumber& operator+=(ComplexNumber b) { return *this = *this + b; }
    KS_FN ComplexNumber& operator-=(ComplexNumber b) { return *this = *this - b; }
};

/// The type of numbers on a space, of a caller's type.
template <class User>
struct NumberOf {
    using Type = double;
};
template <>
struct NumberOf<std::complex<double>> {
    using Type = ComplexNumber;
};
template <class User>
using Number = typename NumberOf<User>::Type;

/// x as a number of type T.
template <class T>
KS_FN T real_number(double x) {
    if constexpr (std::same_as<T, double>)
        return x;
    else
        return {x, 0};
}
KS_FN double magnitude(double x) { return fabs(x); }
KS_FN double magnitude(ComplexNumber z) { return hypot(z.re, z.im); }
KS_FN double reciprocal(double x) { return 1 / x; }
/// 1 / z; |z| is in the range of squares, as diagonal entries of scaled matrices are.
KS_FN ComplexNumber reciprocal(ComplexNumber z) {
    const double inverse = 1 / (z.re * z.re + z.im * z.im);
    return {z.re * inverse, -z.im * inverse};
}
/// A number of size `size` on the ray of x: positive where x is zero.
KS_FN double along(double x, double size) { return x < 0 ? -size : size; }
KS_FN ComplexNumber along(ComplexNumber z, double size) {
    const double length = magnitude(z);
    return length > 0 ? size / length * z : ComplexNumber{size, 0};
}
/// conj(a) b
KS_FN ComplexNumber conjugate_product(ComplexNumber a, ComplexNumber b) { return {a.re * b.re + a.im * b.im, a.re * b.im - a.im * b.re}; }
/// |z|^2
KS_FN double square(ComplexNumber z) { return z.re * z.re + z.im * z.im; }

/// x 2^exponent, between the types of caller and space.
inline double scaled(double x, int exponent) { return std::ldexp(x, exponent); }
inline ComplexNumber scaled(std::complex<double> z, int exponent) {
    return {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
}
inline double scaled_back(double x, int exponent) { return std::ldexp(x, exponent); }
inline std::complex<double> scaled_back(ComplexNumber z, int exponent) { return {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)}; }

inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_finite(std::complex<double> z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
inline bool is_finite(ComplexNumber z) { return std::isfinite(z.re) && std::isfinite(z.im); }

/// The exponent of the larger part; lowest_exponent of zero.
inline constexpr int lowest_exponent = std::numeric_limits<int>::min();
inline int exponent_of(double x) { return x != 0 ? std::ilogb(x) : lowest_exponent; }
inline int exponent_of(std::complex<double> z) { return std::max(exponent_of(z.real()), exponent_of(z.imag())); }

}  // namespace kasane::sparse
