// The division of a lattice among workers: a 4-D grid of them, each with a local lattice of the same extents.
// Invariants: local extents are even, so that a site has the same parity in its local lattice as in the whole one; worker numbers run
// fastest along x.
#pragma once

#include <kasane/lattice/geometry.hpp>

#include <array>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Workers along x, y, z, t.
using GridShape = std::array<int, 4>;

class RankGrid {
   public:
    /// The grid with the smallest faces; of grids with the same faces the one that divides the later directions, whose faces are
    /// contiguous.
    /// @throws InputError: extents as check_extents, or no grid of this many workers has even local extents; names the usable numbers
    static RankGrid chosen(const Extents& lattice, int workers);
    /// @throws InputError: not the grid of this many workers, or odd local extents; names the usable grids
    static RankGrid given(const Extents& lattice, int workers, const GridShape& shape);

    const Extents& lattice() const { return lattice_; }
    const Extents& local() const { return local_; }  ///< extents of a local lattice
    const GridShape& shape() const { return shape_; }
    int size() const;
    /// Whether neighbours along mu can belong to another worker.
    bool divided(int mu) const { return shape_[static_cast<std::size_t>(mu)] > 1; }

    /// Coordinates of a worker in the grid.
    Site place(int worker) const;
    /// The worker `step` (1 or -1) further along mu, around the boundary.
    int neighbour(int worker, int mu, int step) const;
    /// First site of a worker's local lattice in the whole one.
    Site origin(int worker) const;
    /// Sites of one parity on all faces of a local lattice that have neighbours of another worker: a hop sends and receives as many.
    index_t face_sites() const;
    /// The local extents with a border of this width in the divided directions, and the sites of one parity in the border.
    Extents bordered(int width) const;
    index_t border_sites(int width) const { return (bordered(width).volume() - local_.volume()) / 2; }

    /// "1x1x2x4 workers, each with 8x8x4x4 sites"
    std::string text() const;

   private:
    RankGrid(const Extents& lattice, const GridShape& shape);
    Extents lattice_, local_;
    GridShape shape_;
};

/// All grids of this many workers with even local extents, those with the smallest faces first.
std::vector<GridShape> usable_grids(const Extents& lattice, int workers);

}  // namespace kasane::lattice
