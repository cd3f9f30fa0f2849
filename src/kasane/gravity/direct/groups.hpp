// The work of a call of the CUDA kernel `sum_groups` (tile_groups.cuda.hpp): whole evaluations with few sources, in single precision.
// Plain arithmetic on the host.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::gravity {

/// Runs of sources that a thread block sums at the same time, one in each group of its threads.
inline constexpr int groups_of_block = 4;

/// Sources up to which the kernel was compared with `sum_tiles`: 33 runs.
inline constexpr index_t most_group_sources = 33 * 256;
/// Other devices with which a device can sum in one kernel.
inline constexpr int most_peers = 7;

/// Thread blocks of the kernel `sum_groups`.
struct GroupShape {
    int threads = 0;                    ///< of a thread block
    int targets_per_thread = 0;         ///< targets in the registers of one thread
    int blocks_per_multiprocessor = 0;  ///< resident thread blocks (the kernels are compiled for it)
    int block_targets() const { return threads / groups_of_block * targets_per_thread; }
};
/// The shapes that are compiled.
inline constexpr GroupShape large_groups{512, 2, 2}, small_groups{256, 1, 4};

/// One call of the kernel `sum_groups`.
struct GroupSchedule {
    GroupShape shape;       ///< no threads: another kernel is faster
    int target_blocks = 0;  ///< thread blocks along the targets
    int shares = 0;         ///< thread blocks along the sources, each with groups_of_block runs
    explicit operator bool() const { return shape.threads > 0; }
};
/// The schedule of an evaluation that takes one launch in single precision (whole_in_one_launch()), if `sum_groups` is the faster kernel.
GroupSchedule group_schedule(index_t targets, index_t sources, int multiprocessors);
/// The schedule of a device's part of an evaluation in which kernels of several devices wait for each other. Its thread blocks take at most
/// half of the places on the device, so that all are resident at once beside those of another evaluation.
GroupSchedule peer_schedule(index_t targets, index_t sources, int multiprocessors);

}  // namespace kasane::gravity
