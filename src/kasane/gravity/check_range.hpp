// Checks that positions, masses and forces are in the range of the precision in which the force is computed.
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/evolve/force.hpp>

namespace kasane::gravity {

/// @throws InputError: a softening or another option that is out of range for any particles
void check_options(const Direct& force);

/// @throws InputError: squares or products of a force would overflow or vanish
void check_range(const Particles& particles, const Force& force);

}  // namespace kasane::gravity
