// Gravity of pairs with two softenings, eps_ij^2 = (eps_i^2 + eps_j^2) / 2, as the formulas stand on paper, one target at a time in long
// double. The spline is that of Springel (2005, MNRAS 364, 1105), eq. 4, with his polynomials of the potential W2 and the force; the
// library evaluates other forms of them.
#pragma once

#include <reference/direct.hpp>

#include <cmath>
#include <vector>

namespace kasane::reference {

/// The density of the spline for h = 1; the mass is 1.
inline long double spline_density(long double u) {
    constexpr long double over_pi = 0.318309886183790671537767526745028724L;
    if (u < 0.5L) return 8 * over_pi * (1 - 6 * u * u + 6 * u * u * u);
    return u < 1 ? 16 * over_pi * (1 - u) * (1 - u) * (1 - u) : 0;
}
/// phi = G m W2(r/h) / h.
inline long double spline_w2(long double u) {
    const long double u2 = u * u, u4 = u2 * u2;  // std::pow took a quarter of the time
    if (u < 0.5L) return 16.L / 3 * u2 - 48.L / 5 * u4 + 32.L / 5 * u4 * u - 14.L / 5;
    if (u < 1) return 1 / (15 * u) + 32.L / 3 * u2 - 16 * u2 * u + 48.L / 5 * u4 - 32.L / 15 * u4 * u - 16.L / 5;
    return -1 / u;
}
/// a = G m d g(r/h) / h^3.
inline long double spline_g(long double u) {
    if (u < 0.5L) return 32.L / 3 - 192.L / 5 * u * u + 32 * u * u * u;
    if (u < 1) return 64.L / 3 - 48 * u + 192.L / 5 * u * u - 32.L / 3 * u * u * u - 1 / (15 * u * u * u);
    return 1 / (u * u * u);
}

/// @param eps, each  softening of the target, and of the sources   @param own  index of the source that is the target itself, or -1
inline FieldAt softened(const Vec3<double>& target, double eps, const std::vector<Vec3<double>>& position, const std::vector<double>& mass,
                        const std::vector<double>& each, index_t own, bool spline, double G) {
    long double ax = 0, ay = 0, az = 0, phi = 0, force = 0, tide = 0, slope = 0;
    for (std::size_t j = 0; j < mass.size(); ++j) {
        const long double dx = static_cast<long double>(position[j].x) - target.x;
        const long double dy = static_cast<long double>(position[j].y) - target.y;
        const long double dz = static_cast<long double>(position[j].z) - target.z;
        const long double d2 = dx * dx + dy * dy + dz * dz;
        const long double eps2 = (static_cast<long double>(eps) * eps + static_cast<long double>(each[j]) * each[j]) / 2;
        if (static_cast<index_t>(j) == own || d2 + eps2 == 0) continue;
        const long double gm = static_cast<long double>(G) * mass[j], r = std::sqrt(d2), h = 2.8L * std::sqrt(eps2);
        long double factor, well;  // a = factor d, phi = -well
        if (spline && r < h) {
            factor = gm * spline_g(r / h) / (h * h * h);
            well = -gm * spline_w2(r / h) / h;
        } else {
            const long double rho = spline ? r : std::sqrt(d2 + eps2);
            factor = gm / (rho * rho * rho);
            well = gm / rho;
        }
        ax += factor * dx;
        ay += factor * dy;
        az += factor * dz;
        phi -= well;
        force += factor * r;
        // |da/dx| and |dphi/dx| are at most those of a point mass at the distance h/2 inside of it.
        const long double scale = spline ? std::max(r, h / 2) : std::sqrt(d2 + eps2);
        tide += 2 * gm / (scale * scale * scale);
        slope += gm / (scale * scale);
    }
    const auto d = [](long double value) { return static_cast<double>(value); };
    return {{d(ax), d(ay), d(az)}, d(phi), d(force), d(tide), d(-phi), d(slope)};
}

}  // namespace kasane::reference
