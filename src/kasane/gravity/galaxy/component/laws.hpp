// Closed-form laws of density and surface density with their derivatives, in units of the scale, not normalised, and the truncation.
// Derivatives are stored as x^n f^(n), which neither overflow nor lose digits at the centre.
#pragma once

#include <kasane/gravity/galaxy/component/component.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace kasane::gravity {

/// f, x f', x^2 f'', x^3 f'''.
struct ScaledDerivatives {
    double f, d1, d2, d3;
};

/// Computes the derivatives from the slope d ln f / d ln x and its derivatives by ln x.
inline ScaledDerivatives from_slopes(double f, double s, double ds, double dds) {
    return {f, f * s, f * (s * s - s + ds), f * (s * (s * s - 3 * s + 2) + 3 * ds * (s - 1) + dds)};
}

/// exp(-b (x^k - 1)): Sersic's law, Einasto's and the exponential disk.
struct StretchedExponential {
    double b, k;

    ScaledDerivatives operator()(double x) const {
        const double z = b * std::pow(x, k), f = std::exp(b - z);
        if (f == 0) return {};
        const double s = -k * z;  // d s / d ln x = k s; in this form no terms cancel
        return {f, f * s, f * s * (s - (1 - k)), f * s * (s * (s - 3 * (1 - k)) + (1 - k) * (2 - k))};
    }
};

/// x^-inner times one or two factors (1 + (x/scale)^sharpness)^-power: all laws that are power laws far inside and far outside.
struct PowerProduct {
    struct Factor {
        double power = 0, sharpness = 1, log_scale = 0;
    };
    double inner = 0;
    std::array<Factor, 2> factors{};

    ScaledDerivatives operator()(double x) const {
        const double log_x = std::log(x);
        double log_f = -inner * log_x, s = -inner, ds = 0, dds = 0;
        for (const auto& [power, sharpness, log_scale] : factors) {
            if (power == 0) continue;
            const double a = sharpness * (log_x - log_scale), z = std::exp(-std::abs(a));
            const double large = 1 / (1 + z), small = z * large;
            const double t = a > 0 ? large : small, u = a > 0 ? small : large;  // t = y^s / (1 + y^s) = 1 - u
            log_f -= power * (std::max(a, 0.) + std::log1p(z));
            s -= power * sharpness * t;
            ds -= power * sharpness * sharpness * t * u;
            dds -= power * sharpness * sharpness * sharpness * t * u * (u - t);
        }
        return from_slopes(std::exp(log_f), s, ds, dds);
    }

    double outer() const { return inner + factors[0].power * factors[0].sharpness + factors[1].power * factors[1].sharpness; }
    double sharpest() const { return std::max(factors[0].sharpness, factors[1].sharpness); }
};

inline PowerProduct power_product(const Plummer&) { return {0, {{{2.5, 2}, {}}}}; }
inline PowerProduct power_product(const Hernquist&) { return {1, {{{3, 1}, {}}}}; }
inline PowerProduct power_product(const Nfw&) { return {1, {{{2, 1}, {}}}}; }
inline PowerProduct power_product(const Moore&) { return {1.5, {{{1, 1.5}, {}}}}; }
inline PowerProduct power_product(const Burkert&) { return {0, {{{1, 1}, {1, 2}}}}; }
inline PowerProduct power_product(const Isothermal&) { return {0, {{{1, 2}, {}}}}; }
inline PowerProduct power_product(const TwoPower& l) {
    return {l.inner_slope, {{{(l.outer_slope - l.inner_slope) / l.sharpness, l.sharpness}, {}}}};
}
/// @param scale  of the component [length]
inline PowerProduct power_product(const TriplePower& l, double scale) {
    return {l.inner_slope,
            {{{(l.middle_slope - l.inner_slope) / l.sharpness, l.sharpness},
              {(l.outer_slope - l.middle_slope) / l.sharpness, l.sharpness, std::log(l.outer_scale / scale)}}}};
}

/// The function times erfc((r - radius)/width) / 2; the derivatives are r^n f^(n).
inline ScaledDerivatives truncated(const ScaledDerivatives& v, const Truncation& cut, double r) {
    const double u = (r - cut.radius) / cut.width, steepness = r / cut.width;
    const double g = std::erfc(u) / 2;
    const double g1 = -std::exp(-u * u) * steepness / std::sqrt(std::numbers::pi);
    const double g2 = -2 * u * steepness * g1, g3 = (4 * u * u - 2) * steepness * steepness * g1;
    return {v.f * g, v.d1 * g + v.f * g1, v.d2 * g + 2 * v.d1 * g1 + v.f * g2, v.d3 * g + 3 * v.d2 * g1 + 3 * v.d1 * g2 + v.f * g3};
}

}  // namespace kasane::gravity
