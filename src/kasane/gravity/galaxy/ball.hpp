// Uniform spheres that are in no equilibrium: balanced as a whole, or at rest. One particle at rest is a point.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles.hpp>

#include <cstdint>

namespace kasane::gravity {

struct Ball {
    enum class Motion {
        uniform,  ///< velocities uniform in a ball, 2K = |W|: balanced as a whole, not steady
        cold,     ///< at rest
    };
    Motion motion = Motion::uniform;
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;    ///< total [mass]
    double radius = 1;  ///< [length]
    double G = 1;
    std::uint8_t type = 1;
};

/// Centre of mass at the origin and at rest, equal masses, ids 1..count.
/// @throws InputError: count below 1 or above most_particles; mass, radius or G not finite or not above 0; an unknown type
Particles sample(const Ball& ball, Cpu on = {});

}  // namespace kasane::gravity
