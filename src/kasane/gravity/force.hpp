// The forces of this module: plain options.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <variant>

namespace kasane::gravity {

using Force = std::variant<Direct, Tree>;
/// Plummer eps [length].
double softening(const Force& force);
double gravitational_constant(const Force& force);

}  // namespace kasane::gravity
