#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <algorithm>
#include <limits>

namespace kasane::gravity {
namespace {

// The time of a call in units of a warp that sums a run for 32 targets, 0.56 us where a multiprocessor has many: the largest work of a
// multiprocessor and a constant for launch, loads and sums. Fitted to N = 2,048 to 8,192 on an H200, equal masses, 2026-11.
constexpr double tile_constant = 9.0, small_constant = 6.6, large_constant = 7.3;
constexpr double large_unit = 0.875;  // two targets of a thread share loads
// Work of `sum_tiles` below which latencies determine its time: blocks of one run keep a multiprocessor's schedulers waiting.
constexpr double tile_floor = 7;
constexpr int warp = 32;

index_t blocks(index_t n, index_t size) { return (n + size - 1) / size; }

/// Work of the multiprocessor with the most thread blocks.
double largest_work(index_t thread_blocks, int multiprocessors, double work_of_block) {
    return static_cast<double>(blocks(thread_blocks, multiprocessors)) * work_of_block;
}

double tile_time(index_t targets, index_t sources, int multiprocessors) {
    const auto schedule = tile_schedule(targets, sources, Precision::single_, false, multiprocessors);
    const double work_of_block = static_cast<double>(schedule.shape.block_targets()) / warp * schedule.runs;
    const double work = largest_work(static_cast<index_t>(schedule.target_blocks) * schedule.shares, multiprocessors, work_of_block);
    return std::max(work, tile_floor) + tile_constant;
}

/// The faster one of both shapes, if one takes less than `least` and at most this part of the places for thread blocks.
GroupSchedule fastest(index_t targets, index_t sources, int multiprocessors, double least, double part) {
    GroupSchedule best;
    if (targets < 1 || sources < 1 || sources > most_group_sources) return best;
    const auto consider = [&](const GroupShape& shape, double unit, double constant) {
        const auto target_blocks = blocks(targets, shape.block_targets()), shares = blocks(sources, groups_of_block * source_run);
        if (target_blocks > most_target_blocks(multiprocessors)) return;
        if (static_cast<double>(target_blocks * shares) > part * shape.blocks_per_multiprocessor * multiprocessors) return;
        const double work_of_block = static_cast<double>(shape.threads * shape.targets_per_thread) / warp;
        const double time = unit * largest_work(target_blocks * shares, multiprocessors, work_of_block) + constant;
        if (time < least) least = time, best = {shape, static_cast<int>(target_blocks), static_cast<int>(shares)};
    };
    consider(large_groups, large_unit, large_constant);
    consider(small_groups, 1, small_constant);
    return best;
}

}  // namespace

GroupSchedule group_schedule(index_t targets, index_t sources, int multiprocessors) {
    return fastest(targets, sources, multiprocessors, tile_time(targets, sources, multiprocessors), std::numeric_limits<double>::max());
}

GroupSchedule peer_schedule(index_t targets, index_t sources, int multiprocessors) {
    return fastest(targets, sources, multiprocessors, std::numeric_limits<double>::max(), 0.5);
}

}  // namespace kasane::gravity
