// Spherical models in closed form (G = M = a = 1), and a plain Simpson rule for those that have none: oracles of the galaxy room,
// sharing no code with it.
#pragma once

#include <cmath>
#include <numbers>

namespace kasane::reference {

using std::numbers::pi;

struct Plummer {
    static double density(double r) { return 3 / (4 * pi) * std::pow(1 + r * r, -2.5); }
    static double mass(double r) { return std::pow(1 + 1 / (r * r), -1.5); }
    static double radius(double m) { return 1 / std::sqrt(std::pow(m, -2. / 3) - 1); }
    static double psi(double r) { return 1 / std::sqrt(1 + r * r); }
    static double depth(double r) { return r * r / std::sqrt(1 + r * r) / (1 + std::sqrt(1 + r * r)); }  // 1 - psi without cancellation
    static double f(double energy, double) { return 24 * std::sqrt(2.) / (7 * pi * pi * pi) * std::pow(energy, 3.5); }
    static double dispersion2(double r) { return psi(r) / 6; }  // of one component
};

/// Hernquist 1990, ApJ 356, 359.
struct Hernquist {
    static double density(double r) { return 1 / (2 * pi * r * std::pow(1 + r, 3)); }
    static double mass(double r) { return r * r / ((1 + r) * (1 + r)); }
    static double radius(double m) { return 1 / (1 / std::sqrt(m) - 1); }
    static double psi(double r) { return 1 / (1 + r); }
    static double depth(double r) { return r / (1 + r); }
    /// Eq. 17, with depth = 1 - energy. The bracket cancels as q^5: good to 1e-16 / q^5.
    static double f(double energy, double depth) {
        const double q2 = energy, q = std::sqrt(q2);
        const double bracket = 3 * std::asin(q) + q * std::sqrt(depth) * (1 - 2 * q2) * (8 * q2 * q2 - 8 * q2 - 3);
        return std::pow(depth, -2.5) * bracket / (8 * std::sqrt(2.) * pi * pi * pi);
    }
    /// Eq. 10; cancels as r^4 far out.
    static double dispersion2(double r) {
        return (12 * r * std::pow(1 + r, 3) * std::log1p(1 / r) - r / (1 + r) * (25 + 52 * r + 42 * r * r + 12 * r * r * r)) / 12;
    }
};

/// Not normalised.
struct TruncatedNfw {
    double radius, width;
    double density(double r) const { return std::erfc((r - radius) / width) / (2 * r * (1 + r) * (1 + r)); }
};

/// Composite Simpson rule with 2 n intervals.
template <class F>
double simpson(F f, double a, double b, int n) {
    const double h = (b - a) / (2 * n);
    double sum = f(a) + f(b);
    for (int i = 1; i < 2 * n; ++i) sum += (i % 2 ? 4 : 2) * f(a + i * h);
    return sum * h / 3;
}

/// 4 pi Int rho r^2 dr over ln r.
template <class Density>
double mass_between(Density density, double inner, double outer, int n = 4000) {
    return simpson([&](double x) { return 4 * pi * std::exp(3 * x) * density(std::exp(x)); }, std::log(inner), std::log(outer), n);
}

}  // namespace kasane::reference
