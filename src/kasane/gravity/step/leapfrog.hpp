// Kick-drift-kick leapfrog with one step for all particles: v += a dt/2, x += v dt, (new a), v += a dt/2.
// Second order, symplectic at constant dt, time-reversible to rounding.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>

namespace kasane::gravity {

/// v += a dt/2, x += v dt.   All views [n].
template <Space S>
void kick_drift(S on, View<Vec3<double>> position, View<Vec3<double>> velocity, View<const Vec3<double>> acceleration, double dt);

/// v += a dt/2.
template <Space S>
void kick(S on, View<Vec3<double>> velocity, View<const Vec3<double>> acceleration, double dt);

}  // namespace kasane::gravity
