// Walks evaluate the force of a tree on some of its bodies. All walks share this interface and agree to the accuracy of the criterion.
// Invariants: a cell that holds a target is never accepted for it; a body contributes nothing to itself; coincident bodies
// contribute nothing to each other's acceleration, and at zero softening nothing to their potential either.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/tree/octree.hpp>
#include <kasane/gravity/tree/tuning.hpp>

#include <cstdint>
#include <memory>

namespace kasane::gravity {

/// The bodies on which a walk evaluates the force, and their last accelerations.
struct WalkTargets {
    /// Indices of bodies, ascending; not read if `all`. The walk `links` with V = G = 1 takes fewer than all bodies in any order.
    View<const std::uint32_t> index;
    bool all = true;
    View<const float> acceleration;  ///< |a| of every body from its last force [length / time^2]; empty for criteria without it
    index_t leading = 0;             ///< with `all`: if it is not 0, the targets are the first `leading` bodies alone

    index_t count(index_t bodies) const { return !all ? index.n : leading > 0 ? leading : bodies; }
};

/// Results, indexed by body, in the units of the particles; only targets are written. An empty view is not computed.
struct WalkField {
    View<Vec3<float>> acceleration;
    View<float> potential;
};

/// Work of one or more walks.
struct WalkCounts {
    double bodies = 0;  ///< target-body interactions, without padding
    double cells = 0;   ///< target-cell interactions
    double tests = 0;   ///< cells tested, once per group
    double groups = 0;
    double interactions() const { return bodies + cells; }
    WalkCounts& operator+=(const WalkCounts& other);
};

template <Space S>
class Walk {
   public:
    Walk(S on, const Tree& options);
    ~Walk();
    Walk(Walk&&) noexcept;
    Walk& operator=(Walk&&) noexcept;

    /// Overwrites `out` at the targets. Asynchronous on Cuda.
    /// @throws ComputationError: a traversal stack is full (Cuda; counts() throws it)
    void operator()(const OctreeView& tree, const WalkTargets& targets, const WalkField& out);

    WalkTuning& tuning();
    /// Counts since the last call of counts(); waits for these walks.
    WalkCounts counts();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
