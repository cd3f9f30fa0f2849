// Two bodies on a Kepler orbit, to place two galaxies for an encounter.
#pragma once

#include <kasane/core/math/vec3.hpp>

#include <array>

namespace kasane::gravity {

struct Orbit {
    double separation = 0;    ///< present distance [length]
    double pericentre = 0;    ///< least distance [length], above 0
    double eccentricity = 1;  ///< 0 circle, 1 parabola, above 1 hyperbola
};

struct TwoBodies {
    std::array<Vec3<double>, 2> position;
    std::array<Vec3<double>, 2> velocity;
};

/// Positions and velocities of two point masses before pericentre (at it when separation == pericentre), in the frame of their
/// centre of mass. Body 0 lies on the positive x axis, body 1 on the negative; the orbit is in the x-y plane, its angular momentum
/// along +z.
/// @throws InputError: a mass, separation, pericentre or G not above 0, eccentricity below 0, a separation that the orbit does not
/// reach
TwoBodies place_on_orbit(double mass0, double mass1, const Orbit& orbit, double G = 1);

}  // namespace kasane::gravity
