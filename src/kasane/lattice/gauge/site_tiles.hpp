// The order in which the blocks of a CUDA grid go through the sites, for kernels that read the links around a site: a block has a tile
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
/// Threads of a block for the sites of one parity, with 168 registers each, and those that suit rows of 24 sites. Small blocks begin and
/// end at different times, so that some load while others multiply: on an H200 a sweep of overrelaxation (24^3 x 48) takes 0.95 ms with
/// blocks of 384 threads, 0.85 with 192, 0.83 with 128, 0.79 with 96, 0.84 with 64.
inline constexpr int parity_threads = 128, fewer_parity_threads = 96;

struct SiteTiles {
    Extents n;                ///< of the lattice
    int tile[3] = {0, 0, 0};  ///< sites along x, y, z
    int grid[3] = {0, 0, 0};  ///< tiles along x, y, z
    int slices = 0;           ///< of a block; fewer in the last ones
    int parities = 2;         ///< 1: the sites of `first` alone
    Parity first = Parity::even;
    bool backwards = false;  ///< the last block first

    /// Places of a tile in a time slice.
    KS_FN int places() const { return tile[0] * tile[1] * tile[2] / 2 * parities; }
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
        const int row = tile[0] / 2, half = places() / parities;
        const int parity = static_cast<int>(first) + place / half;
        place %= half;
        x[1] += place / row % tile[1];
        x[2] += place / row / tile[1];
        x[0] += 2 * (place % row) + ((x[1] + x[2] + x[3] + parity) & 1);
        return x;
    }
};

/// Tiles of at most `most` places that share many neighbours and leave few threads without a site. With both parities, slices that end at
/// the same time in all of the `resident` blocks that a device executes at a time. With one parity a single slice: a pass over one
/// direction reads a link at most twice in each plane, so the first-level cache shares little, and the blocks of a time slice, executed
/// together, share its neighbours in the second-level cache (24^3 x 48, H200: 1.4 times the links were read from memory with 7 slices a
/// block).
SiteTiles site_tiles(const Extents& n, int parities, Parity first, int most, int resident);
/// Tiles for the sites of one parity, of at most fewer_parity_threads places, or parity_threads where these leave fewer threads without a
/// site.
SiteTiles parity_tiles(const Extents& n, Parity parity);

}  // namespace kasane::lattice
