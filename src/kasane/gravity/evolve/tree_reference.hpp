// Direct sums for the audits of simulations with a tree.
#pragma once

#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/step/system.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <vector>

namespace kasane::gravity {

/// Accelerations in double that the particles of a system cause at these positions, with the softening of the tree.
/// @param softening  of the targets; empty if the force has one softening
template <Space S>
std::vector<Vec3<double>> tree_reference(S on, const Tree& tree, const System<S, Vec3<float>>& system, const std::vector<Vec3<double>>& at,
                                         const std::vector<double>& softening) {
    const auto target = to_space(on, at);
    const auto eps = to_space(on, softening);
    Buffer<Vec3<double>, S> found(on, target.size());
    DirectSum<S> sum(on, {.softening = tree.softening,
                          .G = tree.G,
                          .precision = Precision::double_,
                          .softening_kernel = tree.softening_kernel,
                          .softening_per_particle = tree.softening_per_particle});
    // Two sets: a target is also a source, at distance zero, which adds no acceleration.
    sum(target.view(), {system.position.view(), system.mass.view(), system.softening.view()}, Self{}, {found.view(), {}}, eps.view());
    return to_host(found);
}

}  // namespace kasane::gravity
