// Spherical models in closed form (G = M = a = 1), and a plain Simpson rule for those that have none: oracles of gravity/galaxy,
// which share no code with it.
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
    /// Osipkov-Merritt's addition for r_a = 1; divide by r_a^2. Eq. 25: d^2(r^2 rho)/dPsi^2 = (1 - 3 Psi)/pi.
    static double f_anisotropic(double q2) { return std::sqrt(q2) * (1 - 2 * q2) / (std::sqrt(2.) * pi * pi * pi); }
    /// Eq. 10; cancels as r^4 far out.
    static double dispersion2(double r) {
        return (12 * r * std::pow(1 + r, 3) * std::log1p(1 / r) - r / (1 + r) * (25 + 52 * r + 42 * r * r + 12 * r * r * r)) / 12;
    }
};

/// Henon 1959; Binney & Tremaine 2008, eqs. 2.47, 2.49 and 4.54.
struct Isochrone {
    static double a(double r) { return std::sqrt(1 + r * r); }
    template <class T>
    static T density(T r) {
        using std::sqrt;
        const T s = sqrt(1. + r * r);
        return (3. * (1. + s) * s * s - r * r * (1. + 3. * s)) / (4 * pi * (1. + s) * (1. + s) * (1. + s) * s * s * s);
    }
    static double mass(double r) { return r * r * r / (a(r) * (1 + a(r)) * (1 + a(r))); }
    static double psi(double r) { return 1 / (1 + a(r)); }
    static double f(double e) {
        const double bracket = 27 + e * (-66 + e * (320 + e * (-240 + e * 64))) +
                               3 * (e * (16 * e + 28) - 9) * std::asin(std::sqrt(e)) / std::sqrt(e * (1 - e));
        return std::sqrt(e) * bracket / (std::sqrt(2.) * std::pow(2 * pi, 3) * std::pow(2 * (1 - e), 4));
    }
};

/// A Hernquist sphere of mass 1 around a point mass, by Eddington's formula over Psi, with d^2 rho/dPsi^2 by finite differences of
/// rho(Psi): no derivative by radius, no table.
struct HernquistAroundPoint {
    double point;

    double psi(double r) const { return 1 / (1 + r) + point / r; }
    long double density_at(long double psi) const {
        // Psi r^2 + (Psi - 1 - point) r - point = 0
        const long double b = 1 + point - psi, root = std::sqrt(b * b + 4 * psi * point);
        const long double r = b > 0 ? (b + root) / (2 * psi) : 2 * point / (root - b);
        return 1 / (2 * std::numbers::pi_v<long double> * r * (1 + r) * (1 + r) * (1 + r));
    }
    double curvature(double psi) const {
        const long double h = 2e-4L * psi, y = psi;
        const auto rho = [&](int i) { return density_at(y + i * h); };
        return static_cast<double>((-rho(-2) + 16 * rho(-1) - 30 * rho(0) + 16 * rho(1) - rho(2)) / (12 * h * h));
    }
    double f(double e) const;
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

inline double HernquistAroundPoint::f(double e) const {
    // Int curvature dPsi / sqrt(E - Psi): over ln Psi where Psi < E/2, over s = sqrt(E - Psi) above.
    const auto per_log = [&](double x) { return curvature(std::exp(x)) * std::exp(x) / std::sqrt(e - std::exp(x)); };
    const double far = simpson(per_log, std::log(1e-8 * e), std::log(e / 2), 2000);
    const double near = simpson([&](double t) { return 2 * curvature(e - t * t); }, 0, std::sqrt(e / 2), 2000);
    return (far + near) / (std::sqrt(8.) * pi * pi);
}

/// 4 pi Int rho r^2 dr over ln r.
template <class Density>
double mass_between(Density density, double inner, double outer, int n = 4000) {
    return simpson([&](double x) { return 4 * pi * std::exp(3 * x) * density(std::exp(x)); }, std::log(inner), std::log(outer), n);
}

}  // namespace kasane::reference
