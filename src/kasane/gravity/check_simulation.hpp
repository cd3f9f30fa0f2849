// Checks of the arguments of a simulation, before it allocates memory.
#pragma once

#include <kasane/gravity/simulation.hpp>

namespace kasane::gravity {

/// @throws InputError: bad particles, steps, options of the force, or a state of another run
void check_simulation(const Particles& particles, const SimulationOptions& options);

}  // namespace kasane::gravity
