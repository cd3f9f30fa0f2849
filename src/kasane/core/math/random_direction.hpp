// Isotropic random directions.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cmath>
#include <numbers>

namespace kasane {

/// A unit vector, isotropic; takes two numbers.                                                                  [Archimedes]
inline Vec3<double> random_direction(RandomStream& random) {
    const double z = 2 * random.uniform() - 1, phi = 2 * std::numbers::pi * random.uniform();
    const double s = std::sqrt((1 - z) * (1 + z));
    return {s * std::cos(phi), s * std::sin(phi), z};
}

}  // namespace kasane
