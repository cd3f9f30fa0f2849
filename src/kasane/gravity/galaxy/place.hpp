// Placement of a model: a rotation, then a translation in position and velocity.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles/particles.hpp>

namespace kasane::gravity {

/// Position, velocity and orientation of a model; the defaults change nothing.
struct Placement {
    Vec3<double> position;  ///< added to all positions [length]
    Vec3<double> velocity;  ///< added to all velocities [length / time]
    Vec3<double> spin;      ///< angles of the rotations about the fixed x axis, then the y axis, then the z axis [degrees]
};

/// Rotates positions and velocities about the origin, then adds position and velocity of the placement.
/// @param particles  changed
/// @param where  rotation and translation
/// @param on  number of threads; the result does not depend on it
/// @throws InputError: a number of the placement is not finite
void place(Particles& particles, const Placement& where, Cpu on = {});

}  // namespace kasane::gravity
