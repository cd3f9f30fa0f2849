// Warnings about a galaxy before a run: a model whose galaxy deviates from the description, or will not stay as it is. Galaxy refuses
// models that are impossible.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

// Thresholds of the warnings.
inline constexpr double noticed_clamping = 1e-4;  ///< fraction of a component's mass for which f is clamped
inline constexpr double noticed_miss = 0.01;      ///< relative deviation of a disk's surface density or sigma_R, mean over its mass

/// Finds a clamped f(E), a disk with Q < 1, a disk whose orbits do not reproduce its surface density or sigma_R, and a component whose
/// mean radius diverges. Each warning has reason and remedy, and as its key the option to change ("components.2.truncation").
/// @param length_unit  name of the unit of the radii in the messages
std::vector<InputProblem> cautions(const Galaxy& galaxy, const std::string& length_unit = "");

}  // namespace kasane::gravity
