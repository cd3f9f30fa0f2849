// The order in which the blocks of a CUDA grid visit the sites, for kernels that read the links around a site: a block has a tile
// of space and goes through successive time slices, so that its first-level cache holds the links that its sites share.
// Invariants: a tile is even in x and divides the lattice there; along y and z the last tiles may end beyond the lattice; the places of a
// slice are [parity][z][y][x / 2].
// Plain data for host and device, no CUDA headers.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice {

/// Threads of a block with 168 registers each; one block fills the registers of a multiprocessor.
inline constexpr int around_threads = 384;
/// Threads of a block with 255 registers each, for bodies that multiply more matrices.
inline constexpr int wide_around_threads = 256;
/// Threads of a block of a sum with 255 registers each, two blocks on a multiprocessor.
inline constexpr int around_sum_threads = 128;
/// Threads of a block for the links of one colour, with 168 registers each, and those that suit rows of 24 sites.
inline constexpr int colour_threads = 128, fewer_colour_threads = 96;

struct SiteTiles {
    Extents n;                ///< of the lattice
    int tile[3] = {0, 0, 0};  ///< sites along x, y, z
    int grid[3] = {0, 0, 0};  ///< tiles along x, y, z
    int slices = 0;           ///< of a block; fewer in the last ones
    bool backwards = false;   ///< the last block first

    /// Places of a tile in a time slice.
    KS_FN int places() const { return tile[0] * tile[1] * tile[2]; }
    KS_FN int tiles() const { return grid[0] * grid[1] * grid[2]; }
    KS_FN int blocks() const { return tiles() * ((n[3] + slices - 1) / slices); }
    /// The first site, and that of place 0, of a block. Successive blocks are neighbours in space.
    KS_FN Site origin(int block) const {
        if (backwards) block = blocks() - 1 - block;
        const int t = block / tiles();
        block %= tiles();
        return {{block % grid[0] * tile[0], block / grid[0] % grid[1] * tile[1], block / grid[0] / grid[1] * tile[2], t * slices}};
    }
    /// The site of a place, in the first slice of a block; beyond the lattice along y or z where the tile ends there.
    KS_FN Site site(int block, int place) const {
        Site x = origin(block);
        const int row = tile[0] / 2, half = places() / 2;
        const int parity = place / half;
        place %= half;
        x[1] += place / row % tile[1];
        x[2] += place / row / tile[1];
        x[0] += 2 * (place % row) + ((x[1] + x[2] + x[3] + parity) & 1);
        return x;
    }
};

/// Tiles of at most `most` places that share many neighbours and leave few threads without a site, of equal ones that with the longest side
/// along y, whose rows share lines of the cache; with slices that end at the same time in
/// all of the `resident` blocks that a device executes at a time.
SiteTiles site_tiles(const Extents& n, int most, int resident);
/// Tiles for a pass over the links of a colour, of at most fewer_colour_threads places, or colour_threads where these leave fewer threads
/// without a site.
SiteTiles colour_tiles(const Extents& n);

}  // namespace kasane::lattice
