// Checks that positions, masses and forces are in the range of the precision in which the force is computed.
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/evolve/force.hpp>

namespace kasane::gravity {

/// Checks the options of direct summation. @throws InputError: a softening or another option that is out of range for any particles
void check_options(const Direct& force);

/// Quantities of the particles that decide whether a force can be computed.
struct ParticleRange {
    double mass = 0;    ///< of all particles [mass]
    double reach = 0;   ///< largest coordinate [length]
    double radius = 0;  ///< mean distance from the mean position [length]
};

/// Checks a force for particles in this range. @throws InputError: squares or products of the force would overflow or vanish
void check_range(const ParticleRange& range, const Force& force);
/// Checks a force for these particles. @throws InputError as above
void check_range(const Particles& particles, const Force& force);

}  // namespace kasane::gravity
