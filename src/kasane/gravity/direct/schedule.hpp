// How much work a call of the CUDA kernels is, and how it is dealt out to a device: shapes of blocks, shares of the sources, work units of
// the pairs. Plain arithmetic on the host: the launches take their numbers from here, and so does the model of their time ([MTM13] eq. 2).
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/direct.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// Sources of a run: a target sums so many in the precision of the pairs, then the run's sum goes to the binned sums.
inline constexpr int source_run = 256;

/// Blocks of the kernel `tile`: every thread has so many targets.
struct TileShape {
    int threads = 0;
    int targets_per_thread = 0;
    int blocks_per_multiprocessor = 0;  ///< resident at a time (the kernels are compiled for it)
    int block_targets() const { return threads * targets_per_thread; }
};
TileShape tile_shape(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors);

/// One call of the kernel `tile`.
struct TileSchedule {
    TileShape shape;
    int target_blocks = 0;  ///< blocks along the targets
    int shares = 0;         ///< shares of the sources; the grid has target_blocks times shares blocks
    int waves = 0;          ///< that the grid takes on the device
    int runs = 0;           ///< of the largest share: a block sums so many runs of sources on each of its targets
};
TileSchedule tile_schedule(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors);

/// Tile pairs of blocks at a distance below `reach` (in the circulant order) go in work units of so many tiles.
struct WorkUnits {
    int tiles = 0;
    int reach = 0;
};

/// The kernel `pair`: a warp holds a block of particles and meets others, tile by tile of 32 sources. A work unit, the unit of the
/// schedule, is a few tiles of one tile pair of blocks; sums of targets go to memory at its end. The nearer two blocks are, the smaller
/// their work units: large ones spare sums, small ones, which come last, let the warps of a device end together.
struct PairShape {
    int targets_per_lane = 0;          ///< K: a block has 32 K particles, and as many as K tiles
    std::array<WorkUnits, 3> units{};  ///< the nearest first; their tiles divide K, the last reaches all blocks
    int warps_per_block = 0;
    int blocks_per_multiprocessor = 0;  ///< resident at a time (the kernels are compiled for it)

    index_t block() const { return 32 * targets_per_lane; }
    /// Slabs of workers are made of so many particles: whole blocks, and whole runs of sources.
    index_t grain() const { return block() < source_run ? source_run : block(); }
    index_t blocks(index_t particles) const { return (particles + block() - 1) / block(); }
    int warps(int multiprocessors) const { return multiprocessors * blocks_per_multiprocessor * warps_per_block; }
    /// Of the distances [from, to), those that go in work units k.
    std::array<int, 2> reached(std::size_t k, int from, int to) const;
};
/// A function of these alone, so that sums are the same bits on any device and for any number of workers.
PairShape pair_shape(Precision precision, index_t total);

/// Work of one call.
struct TilePairs {
    std::int64_t tiles = 0, units = 0;
    int last = 0;  ///< tiles of the smallest work units
};
/// Between the blocks of particles [begin, end) and those of [other_begin, other_end), of `total` (circulant.hpp).
TilePairs count_tile_pairs(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end);

/// Particles per multiprocessor from which `pair` beats `tile` on a device alone.
inline constexpr index_t pair_pays = 53;  // 7,000 on the 132 of an H200, see docs/numbers.md

}  // namespace kasane::gravity
