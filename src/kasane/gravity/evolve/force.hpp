// The forces of this module: plain options.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <variant>
#include <vector>

namespace kasane::gravity {

/// Options of the force: direct summation or a tree.
using Force = std::variant<Direct, Tree>;
/// Checks the options of a force. @throws InputError: an option that is out of range for any particles
void validate(const Force& force);
/// eps of all particles, or the smallest one if each particle has its own [length].
double softening(const Force& force);
/// Form of a softened pair.
SofteningKernel softening_kernel(const Force& force);
/// Whether each particle has its own softening.
bool softening_per_particle(const Force& force);
/// Whether pairs combine the softenings of two particles. Otherwise all particles have one Plummer softening, and the kernels are those of
/// that case.
bool combines_softenings(const Force& force);
/// Makes the force use the softenings of these particles. The smallest one becomes the softening of the force; if all are equal, all
/// particles have one softening.
/// @param each  eps of each particle [length]; empty: the force keeps its own
/// @throws InputError: the force has softening_per_particle, but `each` is empty
void set_softening(Force& force, const std::vector<double>& each);
/// G [length^3 / (mass time^2)].
double gravitational_constant(const Force& force);

}  // namespace kasane::gravity
