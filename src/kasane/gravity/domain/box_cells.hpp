// The cells of a domain's tree that the boxes of its targets are made of. Cells are divided in descending order of their worth, the number
// of their bodies times the square root of their side, while there are boxes for their children. LETs grow with the number of bodies near
// a box that is large for their distances: the number alone would leave boxes far out that subtend large angles, the side alone boxes in
// dense regions with many bodies around them. Division level by level gives most boxes to the thin outer part of a system whose density
// decreases with the radius: for a Plummer sphere of 2^24 particles on four workers LETs then have 1.4 times the bytes
// (docs/tree-on-ranks-studies.md). Invariants: the cells hold all bodies, each once; they are a function of the tree alone, the same on
// every space.
#pragma once

#include <kasane/gravity/tree/octree.hpp>

#include <vector>

namespace kasane::gravity {

/// Chooses cells of a tree and writes their first bodies.
template <Space S>
class BoxCells {
   public:
    /// @param cells  the largest number of cells
    BoxCells(S on, index_t cells);

    /// @param levels  of the tree (Octree::levels)
    /// @param begin [cells + 1]  becomes the first bodies of the cells in curve order and, for the rest, the number of bodies
    void choose(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<std::uint32_t> begin);

   private:
    S on_;
    index_t cells_;
    Buffer<std::uint32_t, S> count_;  ///< Cuda: cells by worth, the least worth of a divided cell, the number of cells
};

}  // namespace kasane::gravity
