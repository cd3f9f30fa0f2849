// How far the warps of the CUDA walk `links` part: counted by an instrumented build of the same kernel, for studies.
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#if defined(KASANE_CUDA)
namespace kasane::gravity {

/// Summed over all warps; each with 32 lanes.
struct LinksDivergence {
    double steps = 0;       ///< nodes that warps tested, one after the other
    double lanes = 0;       ///< lanes that had a node to test, summed over these steps
    double splits = 0;      ///< steps at which some lanes went Next and others More
    double body_steps = 0;  ///< passes through the loop over a leaf's bodies
    double body_lanes = 0;  ///< lanes that had a body in them
};

/// One walk by options.walk = links with options.vector and options.group; `acceleration` as in WalkTargets, all bodies are targets.
LinksDivergence links_divergence(Cuda on, const Tree& options, const OctreeView& tree, View<const float> acceleration);

}  // namespace kasane::gravity
#endif
