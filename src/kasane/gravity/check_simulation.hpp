// Checks of the arguments of a simulation, before it allocates memory.
#pragma once

#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/simulation.hpp>

#include <optional>
#include <utility>

namespace kasane::gravity {

/// The options with the softenings of the particles (set_softening()). @param on  where forces are computed
/// @throws InputError: bad particles, steps, options of the force, or a state of another run
SimulationOptions checked_simulation(const Particles& particles, const SimulationOptions& options, const AnySpace& on);

/// Does the same for particles that no single process holds, without checks of the particles and of the state.
/// @param softening  the smallest and the largest of the particles; none: they have none
SimulationOptions checked_options(const ParticleRange& range, const std::optional<std::pair<double, double>>& softening,
                                  const SimulationOptions& options, const AnySpace& on);
/// Sets one softening of a force, or one for each particle where the smallest and the largest differ.
void set_softening(Force& force, double least, double most);

}  // namespace kasane::gravity
