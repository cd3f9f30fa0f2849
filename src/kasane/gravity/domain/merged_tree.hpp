// One tree of a worker's own tree and the LETs that it received, so that walks find all particles by one pass and need no change.
// Invariants: the bodies of the first part come first, with their numbers, so that they are the targets; the parts' roots are below a few
// nodes that no criterion accepts.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <vector>

namespace kasane::gravity {

/// The nodes above the parts' roots, and the places of the roots.
struct TreeTop {
    std::vector<NodeLink> link;       ///< of the nodes above the roots, breadth first
    std::vector<std::uint32_t> next;  ///< [link.size() + parts] as in OctreeView, where `end` is the number of nodes of the merged tree
    static constexpr std::uint32_t end = ~0u;
};

/// The top of a tree of so many parts: node link.size() + p is the root of part p. One part needs none.
TreeTop tree_top(std::uint32_t parts);

template <Space S>
class MergedTree {
   public:
    explicit MergedTree(S on) : on_(on) {}

    /// Merges parts, each with nodes and with the same arrays and frame.
    /// @throws ComputationError: together they have more nodes or bodies than a tree can number
    void merge(const std::vector<OctreeView>& parts);
    OctreeView view() const { return view_; }

   private:
    S on_;
    Buffer<Body, S> body_, center_;
    Buffer<NodeTest, S> test_;
    Buffer<NodeLink, S> link_;
    Buffer<std::uint32_t, S> next_;
    Buffer<Quadrupole, S> quadrupole_;
    Buffer<float, S> body_term_, node_term_;
    std::size_t top_parts_ = 0;  ///< number of parts of the top on the space
    Buffer<NodeLink, S> top_link_;
    Buffer<std::uint32_t, S> top_next_;
    OctreeView view_;
};

/// 0, 1, ..., n - 1.
template <Space S>
Buffer<std::uint32_t, S> ascending(S on, index_t n);

}  // namespace kasane::gravity
