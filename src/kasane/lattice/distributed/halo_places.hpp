// Places of the sites of a halo in the memory of a CUDA device, and the sites that are sent into the halos of the neighbours. On the host.
// Invariants: all workers have the same tiles. The halo of a direction has all tiles beside the face, in the order of their numbers, after
// those of the lattice; so a neighbour's place is computed there as everywhere, from the numbers of its tile and in its tile. Of
// such a tile the sites next to the face alone are sent and read.
#pragma once

#include <kasane/lattice/dirac/cuda/hop_halo.body.hpp>
#include <kasane/lattice/dirac/cuda/tiling.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

#include <array>
#include <vector>

namespace kasane::lattice {

struct HaloPlaces {
    std::vector<device::TileEntry> neighbours;                  ///< Tiles::neighbours with the tiles of the halo
    index_t first = 0, end = 0;                                 ///< places of the halo
    std::vector<device::SentSite> sent[2][device::directions];  ///< by parity of the sites, and direction in which the neighbour reads them
    std::array<int, device::directions> receiver = {};          ///< worker, for each direction; the worker itself where nothing is sent
};

/// Computes the places for this worker of the grid. @param tiling  of a local lattice
HaloPlaces halo_places(const device::Tiling& tiling, const RankGrid& grid, int worker);

}  // namespace kasane::lattice
