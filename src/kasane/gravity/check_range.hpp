// Checks that positions, masses and forces are in the range of the precision in which the force is computed.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/evolve/force.hpp>

namespace kasane::gravity {

/// Checks the options of direct summation. @throws InputError: a softening or another option that is out of range for any particles
void check_options(const Direct& force);

/// Quantities of the particles that decide whether a force can be computed.
struct ParticleRange {
    double mass = 0;     ///< of all particles [mass]
    double reach = 0;    ///< largest coordinate relative to the origin of direct summation (DirectFrame) [length]
    double radius = 0;   ///< mean distance from the mean position [length]
    double closest = 0;  ///< estimate of the smallest distance of two particles (closest_pair()) [length]; 0: unknown
};

/// Checks a force for particles in this range. @param on  where it is computed
/// @throws InputError: squares or products of the force would overflow or vanish
void check_range(const ParticleRange& range, const Force& force, const AnySpace& on);
/// Checks a force for these particles. @throws InputError as above
void check_range(const Particles& particles, const Force& force, const AnySpace& on);

}  // namespace kasane::gravity
