// Two bodies on a Kepler orbit, to place two galaxies for an encounter.
#pragma once

#include <kasane/core/math/vec3.hpp>

#include <array>

namespace kasane::gravity {

struct Orbit {
    double separation = 0;    ///< present distance [length]
    double pericentre = 0;    ///< smallest distance [length], above 0
    double eccentricity = 1;  ///< 0 circle, 1 parabola, above 1 hyperbola
};

struct TwoBodies {
    std::array<Vec3<double>, 2> position;
    std::array<Vec3<double>, 2> velocity;
};

/// Computes positions and velocities of two point masses before pericentre (at it if separation == pericentre), in the frame of their
/// centre of mass. Body 0 is on the positive x axis, body 1 on the negative one; the orbit is in the x-y plane, with its angular momentum
/// along +z.
/// @throws InputError: a mass, separation, pericentre or G not above 0, eccentricity below 0, a separation that the orbit does not
/// reach
TwoBodies place_on_orbit(double mass0, double mass1, const Orbit& orbit, double G = 1);

/// Computes the rotations that orient a galaxy, whose disk is in the x-y plane and rotates about +z, for an encounter of place_on_orbit().
///                                                                                                         [Toomre & Toomre 1972]
/// @param body         0 or 1
/// @param inclination  i between the galaxy's spin and the orbit's angular momentum [degrees]: 0 direct, 90 perpendicular, 180 retrograde
/// @param argument     omega of the other galaxy's pericentre, seen from this one [degrees]: in the plane of the orbit, in the direction
///                     of its motion, from its ascending node, where it crosses the plane of this disk to the side of the disk's
///                     spin. The disk's own x axis is turned to the node (i = 0: to where the node would be)
/// @returns rotations about the fixed x axis, then the y axis, then the z axis [degrees], as Placement::spin
/// @throws InputError: angles that are not finite; otherwise as place_on_orbit()
Vec3<double> spin_on_orbit(const Orbit& orbit, int body, double inclination, double argument);

}  // namespace kasane::gravity
