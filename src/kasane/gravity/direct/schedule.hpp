// The work of a call of the CUDA kernels and its distribution over a device: shapes of thread blocks, shares of the sources, work units of
// the pairs. Plain arithmetic on the host; the launches and the model of their time ([MTM13] eq. 2) use the same numbers.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// Sources of a run: a target sums one run in the precision of the pairs, then the run's sum is added to the binned sums.
inline constexpr int source_run = 256;

/// Thread blocks of the kernel `tile`.
struct TileShape {
    int threads = 0;                    ///< of a thread block
    int targets_per_thread = 0;         ///< targets in the registers of one thread
    int blocks_per_multiprocessor = 0;  ///< resident thread blocks (the kernels are compiled for it)
    int block_targets() const { return threads * targets_per_thread; }
};
/// @param softenings  pairs combine softenings: fewer shapes are compiled
TileShape tile_shape(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors, bool softenings = false);

/// One call of the kernel `tile`.
struct TileSchedule {
    TileShape shape;
    int target_blocks = 0;  ///< thread blocks along the targets
    int shares = 0;         ///< shares of the sources; the grid has target_blocks times shares thread blocks
    int waves = 0;          ///< waves of the grid on the device
    int runs = 0;           ///< runs of sources in the largest share
};
TileSchedule tile_schedule(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors,
                           bool softenings = false);

/// True if `tile` evaluates the accelerations in one launch, which packs the sources and writes the results. It saves two
/// launches and the time between them, and packs each source once for every target block.
bool whole_in_one_launch(index_t targets, index_t sources, Precision precision, int multiprocessors);
/// Upper bound of the target blocks of such a launch.
inline int most_target_blocks(int multiprocessors) { return multiprocessors; }

/// Size of the work units of near tile pairs.
struct WorkUnits {
    int strips = 0;  ///< strips of a work unit
    int reach = 0;   ///< for tile pairs at a distance below this in the circulant order
};

/// Units of work of the kernel `pair`. A warp holds a tile of 32 K particles as targets and reads the other tile of a tile pair in strips
/// of 32 sources. A work unit consists of some strips of one tile pair; the sums of its targets are added to memory at its end. Near tile
/// pairs have small work units: large ones save additions; small ones come last and let the warps of a device end together.
struct PairShape {
    int targets_per_lane = 0;          ///< K: a tile has 32 K particles, that is K strips
    std::array<WorkUnits, 3> units{};  ///< near tile pairs first; `strips` divides K; the last entry holds for all distances
    int warps_per_block = 0;
    int blocks_per_multiprocessor = 0;  ///< resident thread blocks (the kernels are compiled for it)

    /// Particles of a tile.
    index_t tile() const { return 32 * targets_per_lane; }
    /// Slabs of workers begin at multiples of this: whole tiles and whole runs of sources.
    index_t grain() const { return tile() < source_run ? source_run : tile(); }
    index_t tiles(index_t particles) const { return (particles + tile() - 1) / tile(); }
    int warps(int multiprocessors) const { return multiprocessors * blocks_per_multiprocessor * warps_per_block; }
    /// The part of the distances [from, to) that has work units of size k, as [first, end).
    std::array<int, 2> reached(std::size_t k, int from, int to) const;
};
/// A function of precision and total alone, so that sums have the same bits on any device and for any number of workers.
PairShape pair_shape(Precision precision, index_t total);

/// Work of the tile pairs of one call.
struct TilePairs {
    std::int64_t strips = 0, units = 0;
    int last = 0;  ///< strips of the smallest work units
};
/// Counts the tile pairs of the particles [begin, end) with [other_begin, other_end) out of `total` (circulant.hpp).
TilePairs count_tile_pairs(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end);

/// Particles per multiprocessor from which `pair` is faster than `tile` on a single device.
inline constexpr index_t pair_pays = 53;  // 7,000 on the 132 of an H200, see docs/numbers.md
/// The same against whole evaluations in one launch, in single precision.
inline constexpr index_t pair_pays_against_groups = 63;  // 8,316 on an H200
/// Particles per multiprocessor of all devices from which several devices are faster with both sides at once.
inline constexpr index_t pair_pays_together = 62;  // 16,384 on two H200: with 8,192 a call takes 95 microseconds, one-sided 49

/// True if `automatic` sums both sides of each pair at once, for so many particles of all workers. Deterministic sums have the same bits
/// for any number of workers, so they take the form that is faster on a single device. Pairs that combine softenings have the one-sided
/// form alone.
inline bool both_sides_pay(const Direct& options, index_t total, int multiprocessors, int workers) {
    if (detail::own_softening(detail::pair_softening(options))) return false;
    if (workers == 1 || options.deterministic) {
        const bool single = options.precision == Precision::single_;
        return total >= (single ? pair_pays_against_groups : pair_pays) * multiprocessors;
    }
    return total >= pair_pays_together * multiprocessors * workers;
}

}  // namespace kasane::gravity
