// Checks of the arguments of a simulation, before it allocates memory.
#pragma once

#include <kasane/gravity/simulation.hpp>

namespace kasane::gravity {

/// The options with the softenings of the particles (set_softening()).
/// @throws InputError: bad particles, steps, options of the force, or a state of another run
SimulationOptions checked_simulation(const Particles& particles, const SimulationOptions& options);

}  // namespace kasane::gravity
