// The tree code as a force: an octree and a walk, and the first force of a run, where there is no last acceleration.
// Invariant: particles given to place() and accelerate() are in the order of the last sort().
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#include <vector>

namespace kasane::gravity {

template <Space S>
class TreeForce {
   public:
    /// @throws InputError: an option is out of range
    TreeForce(S on, const Tree& options);

    Octree<S>& octree() { return octree_; }
    Walk<S>& walk() { return walk_; }

    /// Evaluates the force on `targets`, from the present bodies of the octree and the moments of the last refresh().
    void accelerate(const WalkTargets& targets, const WalkField& out) { walk_(octree_.view(), targets, out); }
    /// The same for all bodies, without a last acceleration. With the acceleration criterion, a geometric walk (theta = 0.5) comes first;
    /// the counts of the walk do not include it.
    void accelerate_first(const WalkField& out);

   private:
    S on_;
    Tree options_;
    Octree<S> octree_;
    Walk<S> walk_;
};

/// The field of n particles in any order: builds a tree and evaluates a first force. An empty result is not computed.
/// @param softening [n]  where pairs combine softenings; empty: that of the options
/// @throws ComputationError: positions are not finite
template <Space S>
void evaluate_tree(S on, TreeForce<S>& force, View<const Vec3<double>> position, View<const double> mass, View<Vec3<double>> acceleration,
                   View<double> potential, View<const double> softening = {});

/// Accelerations and potentials of particles on the host, in any order, from one tree and one force.
struct TreeField {
    std::vector<Vec3<double>> acceleration;  ///< [length / time^2], in the order given
    std::vector<double> potential;           ///< [length^2 / time^2]
    double seconds = 0;                      ///< sort, build, moments and walks
    WalkCounts counts;                       ///< counts of the last walk
};
/// @param softening  of each particle, used with options.softening_per_particle; empty: that of the options
TreeField tree_field(const AnySpace& on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options,
                     const std::vector<double>& softening = {});

}  // namespace kasane::gravity
