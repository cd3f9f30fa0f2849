// Direct summation as the formula stands on paper ([MTM13] eq. 1), one target at a time in long double: slow, and independent of
// the library's kernels. With the field come the sums of magnitudes that a bound of the rounding error needs.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cmath>
#include <vector>

namespace kasane::reference {

struct FieldAt {
    Vec3<double> acceleration;
    double potential = 0;
    double force_sum = 0;      ///< sum |a_ij|: what an error relative to every pair multiplies
    double tide_sum = 0;       ///< sum 2 G m / (r^2 + eps^2)^(3/2) >= |da/dx|: what an error of the positions multiplies
    double potential_sum = 0;  ///< sum |phi_ij|
    double slope_sum = 0;      ///< sum G m / (r^2 + eps^2) >= |dphi/dx|
};

/// @param own  index of the source that is the target itself, or -1; coincident pairs at eps = 0 contribute nothing
inline FieldAt direct(const Vec3<double>& target, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, index_t own,
                      double softening, double G) {
    long double ax = 0, ay = 0, az = 0, phi = 0, force = 0, tide = 0, slope = 0;
    for (std::size_t j = 0; j < mass.size(); ++j) {
        const long double dx = static_cast<long double>(position[j].x) - target.x;
        const long double dy = static_cast<long double>(position[j].y) - target.y;
        const long double dz = static_cast<long double>(position[j].z) - target.z;
        const long double d2 = dx * dx + dy * dy + dz * dz;
        const long double r2 = d2 + static_cast<long double>(softening) * softening;
        if (static_cast<index_t>(j) == own || r2 == 0) continue;
        const long double r = std::sqrt(r2);
        const long double gm = static_cast<long double>(G) * mass[j], pull = gm / (r2 * r);
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
        phi -= gm / r;
        force += pull * std::sqrt(d2);
        tide += 2 * pull;
        slope += gm / r2;
    }
    const auto d = [](long double value) { return static_cast<double>(value); };
    return {{d(ax), d(ay), d(az)}, d(phi), d(force), d(tide), d(-phi), d(slope)};
}

}  // namespace kasane::reference
