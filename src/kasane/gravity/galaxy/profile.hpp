// Density laws of spherical models with their derivatives, in units of the scale radius and not normalised.
// Truncated densities are multiplied by erfc((r - radius)/width) / 2.                    [Miki & Umemura 2018, MAGI]
#pragma once

#include <kasane/gravity/galaxy/density_law.hpp>

#include <cmath>
#include <numbers>

namespace kasane::gravity {

struct PlummerProfile {
    static DensityAt at(double r) {
        const double s = 1 + r * r, rho = 1 / (s * s * std::sqrt(s));
        return {rho, -5 * r * rho / s, (30 * r * r - 5) * rho / (s * s)};
    }
};

struct HernquistProfile {
    static DensityAt at(double r) {
        const double s = 1 + r, rho = 1 / (r * s * s * s);
        const double slope = -1 / r - 3 / s;  // d ln rho / dr
        return {rho, rho * slope, rho * (slope * slope + 1 / (r * r) + 3 / (s * s))};
    }
};

struct NfwProfile {
    static DensityAt at(double r) {
        const double s = 1 + r, rho = 1 / (r * s * s);
        const double slope = -1 / r - 2 / s;
        return {rho, rho * slope, rho * (slope * slope + 1 / (r * r) + 2 / (s * s))};
    }
};

/// Where and how a density is cut; radius 0: not at all.
struct Cut {
    double radius = 0;
    double width = 0;

    explicit operator bool() const { return radius > 0; }
    /// Beyond it the factor is below 2e-23: nothing is there in double precision.
    double end() const { return radius + 7 * width; }
    DensityAt operator()(const DensityAt& full, double r) const {
        const double u = (r - radius) / width;
        const double factor = std::erfc(u) / 2;
        const double d = -std::exp(-u * u) / (width * std::sqrt(std::numbers::pi));
        const double dd = -2 * u / width * d;
        return {full.rho * factor, full.d * factor + full.rho * d, full.dd * factor + 2 * full.d * d + full.rho * dd};
    }
};

}  // namespace kasane::gravity
