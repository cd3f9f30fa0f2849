// Complex numbers and 3x3 matrices for host and device code.
// Invariant: plain data, row-major, real before imaginary: an Su3<double> is 18 doubles in the order of the files.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <limits>

namespace kasane::lattice {

/// A complex number.
template <class T>
struct Complex {
    T re;  ///< real part
    T im;  ///< imaginary part
    /// Sum.
    KS_FN Complex operator+(Complex b) const { return {re + b.re, im + b.im}; }
    /// Difference.
    KS_FN Complex operator-(Complex b) const { return {re - b.re, im - b.im}; }
    /// Negative.
    KS_FN Complex operator-() const { return {-re, -im}; }
    /// Product.
    KS_FN Complex operator*(Complex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
    /// Product with a real number.
    KS_FN Complex operator*(T s) const { return {re * s, im * s}; }
    /// Adds b.
    KS_FN Complex& operator+=(Complex b) { return *this = *this + b; }
    /// Subtracts b.
    KS_FN Complex& operator-=(Complex b) { return *this = *this - b; }
    /// Multiplies with a real number.
    KS_FN Complex& operator*=(T s) { return *this = *this * s; }
    /// Whether both parts are equal.
    bool operator==(const Complex&) const = default;
};
/// Complex conjugate.
template <class T>
KS_FN Complex<T> conj(Complex<T> a) {
    return {a.re, -a.im};
}
/// Adds a b with two fused multiply-add operations for each part; sum + a * b takes three operations.
template <class T>
KS_FN void add_product(Complex<T>& sum, Complex<T> a, Complex<T> b) {
    sum.re = sum.re + a.re * b.re - a.im * b.im;
    sum.im = sum.im + a.re * b.im + a.im * b.re;
}
/// a0 b0 + a1 b1 + a2 b2
template <class T>
KS_FN Complex<T> sum_of_products(Complex<T> a0, Complex<T> b0, Complex<T> a1, Complex<T> b1, Complex<T> a2, Complex<T> b2) {
    Complex<T> sum = a0 * b0;
    add_product(sum, a1, b1);
    add_product(sum, a2, b2);
    return sum;
}
/// |a|^2
template <class T>
KS_FN T norm2(Complex<T> a) {
    return a.re * a.re + a.im * a.im;
}

/// A 3x3 complex matrix: a link, a staple, or an element of the algebra.
template <class T>
struct Su3 {
    Complex<T> e[3][3];  ///< [row][column]

    /// The zero matrix.
    static KS_FN Su3 zero() { return Su3{}; }
    /// The unit matrix.
    static KS_FN Su3 unit() {
        Su3 u{};
        for (int i = 0; i < 3; ++i) u.e[i][i].re = 1;
        return u;
    }
    /// Adds b.
    KS_FN Su3& operator+=(const Su3& b) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) e[i][j] += b.e[i][j];
        return *this;
    }
    /// Subtracts b.
    KS_FN Su3& operator-=(const Su3& b) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) e[i][j] -= b.e[i][j];
        return *this;
    }
    /// Multiplies with a real number.
    KS_FN Su3& operator*=(T s) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) e[i][j] *= s;
        return *this;
    }
    /// Matrix product.
    KS_FN Su3 operator*(const Su3& b) const {
        Su3 c;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) c.e[i][j] = sum_of_products(e[i][0], b.e[0][j], e[i][1], b.e[1][j], e[i][2], b.e[2][j]);
        return c;
    }
    /// Whether all numbers are equal.
    bool operator==(const Su3&) const = default;
};
/// Sum.
template <class T>
KS_FN Su3<T> operator+(Su3<T> a, const Su3<T>& b) {
    return a += b;
}
/// Difference.
template <class T>
KS_FN Su3<T> operator-(Su3<T> a, const Su3<T>& b) {
    return a -= b;
}
/// a^+, the conjugate transpose.
template <class T>
KS_FN Su3<T> adjoint(const Su3<T>& a) {
    Su3<T> b;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) b.e[i][j] = conj(a.e[j][i]);
    return b;
}
/// a b^+
template <class T>
KS_FN Su3<T> times_adjoint(const Su3<T>& a, const Su3<T>& b) {
    Su3<T> c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.e[i][j] = sum_of_products(a.e[i][0], conj(b.e[j][0]), a.e[i][1], conj(b.e[j][1]), a.e[i][2], conj(b.e[j][2]));
    return c;
}
/// a^+ b
template <class T>
KS_FN Su3<T> adjoint_times(const Su3<T>& a, const Su3<T>& b) {
    Su3<T> c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.e[i][j] = sum_of_products(conj(a.e[0][i]), b.e[0][j], conj(a.e[1][i]), b.e[1][j], conj(a.e[2][i]), b.e[2][j]);
    return c;
}
/// tr a
template <class T>
KS_FN Complex<T> trace(const Su3<T>& a) {
    return a.e[0][0] + a.e[1][1] + a.e[2][2];
}
/// Re tr a b^+, the real inner product of two matrices.
template <class T>
KS_FN T real_trace_times_adjoint(const Su3<T>& a, const Su3<T>& b) {
    T sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum += a.e[i][j].re * b.e[i][j].re + a.e[i][j].im * b.e[i][j].im;
    return sum;
}
/// det a
template <class T>
KS_FN Complex<T> determinant(const Su3<T>& a) {
    const auto& e = a.e;
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/// Row 3 of an SU(3) matrix from the two others: conj(row 1 x row 2).
template <class T>
KS_FN void complete_third_row(Su3<T>& u) {
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        auto minor = u.e[0][i] * u.e[1][j];
        add_product(minor, -u.e[0][j], u.e[1][i]);
        u.e[2][k] = conj(minor);
    }
}

/// The matrix made unitary with determinant 1: Gram and Schmidt's process on rows 1 and 2, then row 3.
template <class T>
KS_FN Su3<T> reunitarised(Su3<T> u) {
    T length = 0;
    for (int k = 0; k < 3; ++k) length += norm2(u.e[0][k]);
    length = 1 / std::sqrt(length);
    for (int k = 0; k < 3; ++k) u.e[0][k] *= length;
    Complex<T> overlap{0, 0};
    for (int k = 0; k < 3; ++k) overlap += conj(u.e[0][k]) * u.e[1][k];
    for (int k = 0; k < 3; ++k) u.e[1][k] -= overlap * u.e[0][k];
    length = 0;
    for (int k = 0; k < 3; ++k) length += norm2(u.e[1][k]);
    length = 1 / std::sqrt(length);
    for (int k = 0; k < 3; ++k) u.e[1][k] *= length;
    complete_third_row(u);
    return u;
}

/// Largest |(u u^+ - 1)_ij| and |det u - 1|: how far a matrix is from SU(3).
template <class T>
KS_FN T distance_from_su3(const Su3<T>& u) {
    const Su3<T> square = times_adjoint(u, u) - Su3<T>::unit();
    const Complex<T> det = determinant(u) - Complex<T>{1, 0};
    T worst = norm2(det);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = norm2(square.e[i][j]) > worst ? norm2(square.e[i][j]) : worst;
    return std::sqrt(worst);
}

/// exp(a) of any 3x3 matrix: Taylor's series of a / 2^k, squared k times; to rounding for matrices of norm up to a few hundred, infinite or
/// NaN where the square of the norm overflows.
template <class T>
KS_FN Su3<T> exponential(Su3<T> a) {
    constexpr T infinite = std::numeric_limits<T>::infinity();
    T size = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) size += norm2(a.e[i][j]);
    size = std::sqrt(size);
    int squarings = 0;
    for (; size > T(0.25) && size < infinite; size /= 2) ++squarings, a *= T(0.5);
    Su3<T> sum = Su3<T>::unit();
    for (int k = 12; k >= 1; --k) {  // Horner: 1 + a (1 + a/2 (1 + a/3 …)); 0.25^13 / 13! = 2e-18
        sum = a * sum;
        sum *= T(1) / T(k);
        sum += Su3<T>::unit();
    }
    for (; squarings > 0; --squarings) sum = sum * sum;
    return sum;
}

/// exp(a) of a traceless anti-Hermitian matrix, to rounding for norms up to a few hundred: by the characteristic equation
/// a^3 = t a + i d, t = tr a^2 / 2 and i d = det a, Taylor's series of a / 2^k is q0 + q1 a + q2 a^2, squared k times. Two products of
/// matrices where a is small; exponential() takes fourteen.
template <class T>
KS_FN Su3<T> exponential_of_algebra(Su3<T> a) {
    constexpr T infinite = std::numeric_limits<T>::infinity();
    T size = std::sqrt(real_trace_times_adjoint(a, a));
    int squarings = 0;
    for (; size > 1 && size < infinite; size /= 2) ++squarings, a *= T(0.5);
    const Su3<T> square = a * a;
    const T t = trace(square).re / 2, d = determinant(a).im;
    constexpr int terms = 18;  // 1 / 19! = 8e-18
    Complex<T> q0{1, 0}, q1{0, 0}, q2{0, 0};
    for (int k = terms; k >= 1; --k) {  // Horner: 1 + a q / k, and a q = i d q2 + (q0 + t q2) a + q1 a^2
        const T scale = T(1) / T(k);
        const Complex<T> next{1 - d * q2.im * scale, d * q2.re * scale};
        const Complex<T> linear = (q0 + q2 * t) * scale;
        q2 = q1 * scale;
        q1 = linear;
        q0 = next;
    }
    Su3<T> sum;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum.e[i][j] = q1 * a.e[i][j] + q2 * square.e[i][j];
    for (int i = 0; i < 3; ++i) sum.e[i][i] += q0;
    for (; squarings > 0; --squarings) sum = sum * sum;
    return sum;
}

/// The traceless anti-Hermitian part (a - a^+) / 2 - tr / 3.
template <class T>
KS_FN Su3<T> traceless_antihermitian(const Su3<T>& a) {
    Su3<T> b = a - adjoint(a);
    b *= T(0.5);
    const T third = (b.e[0][0].im + b.e[1][1].im + b.e[2][2].im) / 3;
    for (int i = 0; i < 3; ++i) b.e[i][i] = {0, b.e[i][i].im - third};
    return b;
}

}  // namespace kasane::lattice
