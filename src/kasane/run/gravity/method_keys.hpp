// The keys of [force] and [step]: method and accuracy of forces and of time steps. Defaults are those of the library's options.
// Invariant: a key of a method that the run does not use is an error.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <kasane/run/model/softening.hpp>

#include <string>

namespace kasane::run {

/// Reads [force]; problems are recorded in the section. `deterministic` is a key of [run] and keeps its default here. Without one softening
/// for all, the force has `softening_per_particle` and the smallest softening that the file states; the softenings of the particles follow
/// later.
/// @param softening  overwritten with the softenings that the file states
gravity::Force read_force(io::Section table, const gravity::Units& units, const AnySpace& space, SofteningKeys& softening);

/// Whether every particle has a softening above 0, as far as the run file states; models and snapshots state none that is 0.
bool is_softened(const gravity::Force& force, const SofteningKeys& softening);

/// Reads [step]; the keys depend on whether the force is softened.
gravity::Steps read_steps(io::Section table, const gravity::Units& units, const gravity::Force& force, const SofteningKeys& softening);

/// The key that holds macro_step(steps): "dt" or "dt_max".
const char* step_key(const gravity::Steps& steps);

// The words of run files for options: "single", "plain", "tree", "block", "acceleration", ...
std::string name(gravity::Precision precision);
std::string name(gravity::StepCriterion criterion);
std::string name_of(const gravity::Mac& mac);
std::string name_of(const gravity::Force& force);
std::string name_of(const gravity::Steps& steps);

/// The options that adaptive and block steps share; null for a constant step.
const gravity::StepControl* control_of(const gravity::Steps& steps);

}  // namespace kasane::run
