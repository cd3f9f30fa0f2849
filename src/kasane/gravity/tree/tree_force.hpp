// The tree code as a force: keeps an octree and a walk, and knows how to make a first force when there is no last acceleration.
// Invariants: particles given to place() and accelerate() stand in the order of the last sort().
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#include <vector>

namespace kasane::gravity {

template <Space S>
class TreeForce {
   public:
    /// @throws InputError for options out of range
    TreeForce(S on, const Tree& options);

    Octree<S>& octree() { return octree_; }
    Walk<S>& walk() { return walk_; }

    /// Forces on `targets`, from the bodies that are in the octree now and moments that refresh() made.
    void accelerate(const WalkTargets& targets, const WalkField& out) { walk_(octree_.view(), targets, out); }
    /// The same for all bodies and without a last acceleration: with the acceleration criterion, a geometric walk (theta = 0.5) comes
    /// first, which the walk's counts leave out.
    void accelerate_first(const WalkField& out);

   private:
    S on_;
    Tree options_;
    Octree<S> octree_;
    Walk<S> walk_;
};

/// The field of particles in any order: builds a tree and makes a first force. [n] each; an empty result is not computed.
/// @throws ComputationError: positions are not finite
template <Space S>
void evaluate_tree(S on, TreeForce<S>& force, View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration,
                   View<double> potential);

/// Accelerations and potentials of particles on the host, in any order: one tree, one force.
struct TreeField {
    std::vector<Vec3<double>> acceleration;  ///< [length / time^2], in the order given
    std::vector<double> potential;           ///< [length^2 / time^2]
    double seconds = 0;                      ///< sort, build, moments and walks
    WalkCounts counts;                       ///< of the last walk
};
TreeField tree_field(const AnySpace& on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options);

}  // namespace kasane::gravity
