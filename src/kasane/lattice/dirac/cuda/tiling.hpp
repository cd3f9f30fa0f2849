// The choice of tiles for a lattice, and the tables of neighbours, computed on the host.
#pragma once

#include <kasane/lattice/dirac/cuda/tiles.hpp>

#include <vector>

namespace kasane::lattice::device {

struct Tiling {
    Tiles tiles;  ///< pointers null
    std::vector<LaneEntry> lanes;
    std::vector<TileEntry> neighbours;
};

/// Tiles of at most `most` sites of a parity (at least 8) that share the most neighbours.
Tiling tiling(const Extents& extents, int most);

/// That of Lattice<Cuda>: a tile is a block of threads, 8 x 4 x 4 x 2 sites where the lattice allows it.
inline Tiling lattice_tiling(const Extents& extents) { return tiling(extents, 128); }

}  // namespace kasane::lattice::device
