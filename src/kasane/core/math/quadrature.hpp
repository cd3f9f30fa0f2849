// Integrals of one variable: tanh-sinh for integrands that are smooth inside but may be singular at the ends, and a fixed
// Gauss-Legendre rule for short intervals on which the integrand is smooth.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace kasane {

struct Integral {
    double value = 0;
    double error = 0;      ///< estimate, absolute
    double magnitude = 0;  ///< integral of |f|
    bool converged = false;
    int evaluations = 0;
};

namespace detail {
/// Two nodes of the tanh-sinh rule on an interval of length 1: their distance from the nearer end is q/(1 + q).
struct TanhSinhPair {
    double q, weight;
};
constexpr int tanh_sinh_end = 5;     ///< largest t: the last nodes lie 1e-101 of the interval from its ends
constexpr int tanh_sinh_levels = 9;  ///< the last level has the step 2^-9 in t: 5120 nodes
/// The pairs that a level adds to those before: t = 1, 2, ... of level 0, t = step, 3 step, ... of the others, step = 2^-level.
const std::vector<TanhSinhPair>& tanh_sinh_pairs(int level);
}  // namespace detail

/// Tanh-sinh (double-exponential) quadrature of f over [a, b], halving the step until two levels agree to `tolerance` times
/// the integral of |f|.                                                [Takahasi & Mori 1974, Publ. RIMS 9, 721]
/// f is not called at a and b. An end may be singular as |x - end|^(-1/2); rounding of x costs digits there unless the end is 0.
template <class F>
Integral integrate(F f, double a, double b, double tolerance = 1e-9) {
    const double width = b - a;
    Integral result;
    double sum = 0, magnitude = 0;
    const auto add = [&](double x, double weight) {
        if (x == a || x == b) return;
        const double term = weight * f(x);
        sum += term;
        magnitude += std::abs(term);
        ++result.evaluations;
    };
    const auto add_level = [&](int level) {
        for (const auto [q, weight] : detail::tanh_sinh_pairs(level)) {
            const double from_end = width * q / (1 + q);
            add(a + from_end, weight);
            add(b - from_end, weight);
        }
    };
    add(a + width / 2, std::numbers::pi / 4);
    double step = 1;
    add_level(0);
    result.value = width * sum;
    for (int level = 1; level <= detail::tanh_sinh_levels && !result.converged; ++level) {
        step /= 2;
        add_level(level);
        const double value = width * step * sum;
        result.error = std::abs(value - result.value);
        result.value = value;
        result.magnitude = std::abs(width) * step * magnitude;
        // Three levels at least: the first two may agree by chance.
        result.converged = level >= 3 && result.error <= tolerance * result.magnitude;
    }
    return result;
}

/// Gauss-Legendre with 5 points over [a, b]: calls body(x, weight). Exact for polynomials of degree 9.
///                                                                              [Abramowitz & Stegun 25.4.29, closed form]
template <class F>
void each_gauss_point(double a, double b, F body) {
    const double root = 2 * std::sqrt(10. / 7);
    const double x1 = std::sqrt(5 - root) / 3, x2 = std::sqrt(5 + root) / 3;
    const double w1 = (322 + 13 * std::sqrt(70.)) / 900, w2 = (322 - 13 * std::sqrt(70.)) / 900;
    const double middle = (a + b) / 2, half = (b - a) / 2;
    body(middle, half * 128. / 225);
    body(middle - half * x1, half * w1);
    body(middle + half * x1, half * w1);
    body(middle - half * x2, half * w2);
    body(middle + half * x2, half * w2);
}

/// The integral by these points.
template <class F>
double integrate_short(F f, double a, double b) {
    double sum = 0;
    each_gauss_point(a, b, [&](double x, double weight) { sum += weight * f(x); });
    return sum;
}

}  // namespace kasane
