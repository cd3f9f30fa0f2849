// Are positions, masses and forces inside the range of the precision that the force is computed in?
#pragma once

#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/force.hpp>

namespace kasane::gravity {

/// @throws InputError: a softening or another option that no particles could be computed with
void check_options(const Direct& force);

/// @throws InputError: squares or products of a force would overflow or vanish
void check_range(const Particles& particles, const Force& force);

}  // namespace kasane::gravity
