// Numbering of the sites of one parity on a CUDA device: tile by tile, so that the threads of a block, which take consecutive sites,
// share most of their neighbours in the first-level cache.
// Invariants: the extents of a tile are even and divide those of the lattice, so all tiles look alike and begin at an even site; places
// number the sites of a parity, [tile][t][z][y][x / 2 within it], without gaps. Plain data for host and device, no CUDA headers.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice::device {

/// Neighbour 2 mu + 1 is the backward one.
inline constexpr int directions = 8;

/// In `lanes`: the neighbour lies in the tile beyond this one's face.
inline constexpr unsigned leaves_tile = 0x8000u;
/// In `neighbours`: the face lies on the boundary in time.
inline constexpr unsigned crosses_boundary = 0x80000000u;

struct alignas(16) LaneEntry {
    std::uint16_t neighbour[directions];  ///< number within its tile, and leaves_tile
};
struct alignas(32) TileEntry {
    std::uint32_t neighbour[directions];  ///< number of the tile, and crosses_boundary
};

struct Tiles {
    Extents extents, tile, grid;  ///< sites, sites per tile, tiles
    std::uint32_t per_tile = 0;   ///< sites of one parity in a tile
    std::uint32_t magic = 0;      ///< i / per_tile = (i magic) >> (32 + shift)
    int shift = 0;
    const LaneEntry* lanes = nullptr;       ///< [parity][per_tile], of the space
    const TileEntry* neighbours = nullptr;  ///< [tile]

    KS_FN std::uint32_t tile_of(std::uint32_t place) const {
        return static_cast<std::uint32_t>((static_cast<std::uint64_t>(place) * magic) >> 32) >> shift;
    }
    KS_FN Site site(Parity p, std::uint32_t place) const {
        const std::uint32_t number = tile_of(place);
        const Site origin = grid.site(static_cast<index_t>(number));
        Site s = tile.site(p, static_cast<index_t>(place - number * per_tile));
        for (int mu = 0; mu < 4; ++mu) s[mu] += origin[mu] * tile[mu];
        return s;
    }
    KS_FN std::uint32_t place(const Site& s) const {
        Site origin{}, within{};
        for (int mu = 0; mu < 4; ++mu) {
            origin[mu] = s[mu] / tile[mu];
            within[mu] = s[mu] % tile[mu];
        }
        return static_cast<std::uint32_t>(grid.lexicographic(origin)) * per_tile + static_cast<std::uint32_t>(tile.checkerboard(within));
    }
};

}  // namespace kasane::lattice::device
