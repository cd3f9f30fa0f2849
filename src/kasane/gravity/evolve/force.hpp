// The forces of this module: plain options.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <variant>

namespace kasane::gravity {

/// Options of the force: direct summation or a tree.
using Force = std::variant<Direct, Tree>;
/// Plummer eps [length].
double softening(const Force& force);
/// G [length^3 / (mass time^2)].
double gravitational_constant(const Force& force);

}  // namespace kasane::gravity
