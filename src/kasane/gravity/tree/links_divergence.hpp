// Divergence of the warps in the CUDA walk `links`, counted by an instrumented instance of the same kernel, for studies.
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#if defined(KASANE_CUDA)
namespace kasane::gravity {

/// Sums over all warps, of 32 lanes each.
struct LinksDivergence {
    double steps = 0;       ///< steps of the warps; in each, a lane tests at most one node
    double lanes = 0;       ///< lanes that had a node to test, summed over the steps
    double splits = 0;      ///< steps in which some lanes accepted their node and others did not
    double body_steps = 0;  ///< passes through the loop over a leaf's bodies
    double body_lanes = 0;  ///< lanes that had a body in these passes
};

/// Counts one walk `links` of options.vector and options.group with all bodies as targets. @param acceleration  as in WalkTargets
LinksDivergence links_divergence(Cuda on, const Tree& options, const OctreeView& tree, View<const float> acceleration);

}  // namespace kasane::gravity
#endif
