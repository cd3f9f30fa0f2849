// What the user of a galaxy should know before running it: models that can be made, but not quite as they were asked for, or that will
// not stay as they are. What cannot be made at all is refused by Galaxy.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

// Above these a caution is given.
inline constexpr double noticed_clamping = 1e-4;  ///< share of a component's mass that a clamped f touches
inline constexpr double noticed_miss = 0.01;      ///< of a disk's surface density or sigma_R, mean over its mass, relative

/// Each a sentence or two with reason and remedy, and the option that mends it as its key ("components.2.truncation"): a clamped f(E), a
/// disk with Q < 1, a disk whose orbits do not keep up what was asked for, a component whose mean radius diverges. Empty for most galaxies.
/// @param length_unit  name of the unit of the radii in the messages
std::vector<InputProblem> cautions(const Galaxy& galaxy, const std::string& length_unit = "");

}  // namespace kasane::gravity
