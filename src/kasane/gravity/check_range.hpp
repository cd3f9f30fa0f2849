// Checks that positions, masses and forces are in the range of the precision in which the force is computed.
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/evolve/force.hpp>

namespace kasane::gravity {

/// @throws InputError: a softening or another option that is out of range for any particles
void check_options(const Direct& force);

/// What of the particles decides whether a force can be computed.
struct ParticleRange {
    double mass = 0;    ///< of all particles [mass]
    double reach = 0;   ///< largest coordinate [length]
    double radius = 0;  ///< mean distance from the mean position [length]
};

/// @throws InputError: squares or products of a force would overflow or vanish
void check_range(const ParticleRange& range, const Force& force);
/// The same for the range of these particles.
void check_range(const Particles& particles, const Force& force);

}  // namespace kasane::gravity
