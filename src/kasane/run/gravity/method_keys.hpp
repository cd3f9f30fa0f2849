// The keys of [force] and [step]: method and accuracy of forces and of time steps. Defaults are those of the library's options.
// Invariant: a key of a method that the run does not use is an error.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <string>

namespace kasane::run {

/// Reads [force]; problems are recorded in the section. `deterministic` is a key of [run] and keeps its default here.
gravity::Force read_force(io::Section table, const gravity::Units& units, const AnySpace& space);

/// Reads [step]; the keys depend on whether the force is softened.
gravity::Steps read_steps(io::Section table, const gravity::Units& units, double softening);

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
