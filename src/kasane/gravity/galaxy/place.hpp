// A model put somewhere: first rotated, then moved.
#pragma once

#include <kasane/gravity/particles.hpp>

namespace kasane::gravity {

struct Placement {
    Vec3<double> position;  ///< of the centre of mass [length]
    Vec3<double> velocity;  ///< [length / time]
    Vec3<double> spin;      ///< rotation about the x axis, then the y axis, then the z axis, all at rest [degrees]
};

/// Turns the particles about the origin, then moves them. @throws InputError: a number that is not finite
void place(Particles& particles, const Placement& where);

}  // namespace kasane::gravity
