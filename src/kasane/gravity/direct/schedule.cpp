#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace {

// From here on blocks of 256 threads with 4 targets each, in particles per multiprocessor: 12,288 on the 132 of an H200.
constexpr index_t many_targets = 93;
// Blocks with two targets per thread that are too few for a multiprocessor: one target makes more of them.
constexpr index_t few_blocks = 8;

/// Shares of the sources that keep every multiprocessor busy to the end: the least of waves times the work of one block. Of the shares that
/// take so many waves the most are the best, so the waves are gone through, and more than these gain nothing.
int best_shares(int target_blocks, int runs, int resident_blocks) {
    constexpr int most_waves = 64;
    int best = 1;
    double least = std::numeric_limits<double>::max();
    const int first = (target_blocks + resident_blocks - 1) / resident_blocks;
    for (int waves = first; waves < first + most_waves; ++waves) {
        const int shares = static_cast<int>(std::min<index_t>(runs, static_cast<index_t>(waves) * resident_blocks / target_blocks));
        const double per_block = static_cast<double>((runs + shares - 1) / shares) + 0.25;  // 0.25 run: loads, sums to memory
        if (waves * per_block < 0.995 * least) least = waves * per_block, best = shares;
        if (shares == runs) break;
    }
    return best;
}

/// Tiles of a quantum: large ones spend little on their sums, small ones deal the work out evenly. The choice weighs both for 1, 2 and 4
/// devices of 132 multiprocessors (as far as each has some particles): a warp's longest work over its mean, with a quantum's sums counted
/// as a twentieth of a tile.
int best_quantum(const PairShape& shape, index_t total) {
    constexpr double sums = 0.05;
    constexpr index_t few_particles = 8192;
    const double warps = 132.0 * shape.warps_per_block * shape.blocks_per_multiprocessor;
    const auto blocks = static_cast<double>(shape.blocks(total));
    const double tiles = 0.5 * blocks * (blocks + 1) * shape.targets_per_lane;
    int best = 1;
    double least = std::numeric_limits<double>::max();
    for (int quantum = 1; quantum <= shape.targets_per_lane; quantum *= 2) {
        double cost = 0;
        for (const int devices : {1, 2, 4}) {
            if (devices > 1 && total / devices < few_particles) break;
            const double mean = tiles / (devices * warps);
            cost += std::ceil(mean / quantum) * (quantum + sums) / mean;
        }
        if (cost < least) least = cost, best = quantum;
    }
    return best;
}

}  // namespace

TileShape tile_shape(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors) {
    const bool single = precision == Precision::single_;
    if (!potential && targets >= many_targets * multiprocessors) return {256, single ? 4 : 2, 2};
    const auto blocks = [&](index_t n, index_t block) { return (n + block - 1) / block; };
    if (blocks(targets, 256) * blocks(sources, source_run) < few_blocks * multiprocessors) return {128, 1, single ? 8 : 4};
    return {128, 2, single ? 6 : potential ? 3 : 4};
}

TileSchedule tile_schedule(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors) {
    TileSchedule schedule{tile_shape(targets, sources, precision, potential, multiprocessors)};
    const auto& shape = schedule.shape;
    schedule.target_blocks = static_cast<int>((std::max<index_t>(targets, 1) + shape.block_targets() - 1) / shape.block_targets());
    const int runs = static_cast<int>((std::max<index_t>(sources, 1) + source_run - 1) / source_run);
    const int resident = multiprocessors * shape.blocks_per_multiprocessor;
    schedule.shares = best_shares(schedule.target_blocks, runs, resident);
    schedule.waves = static_cast<int>((static_cast<index_t>(schedule.target_blocks) * schedule.shares + resident - 1) / resident);
    schedule.runs = (runs + schedule.shares - 1) / schedule.shares;
    return schedule;
}

PairShape pair_shape(Precision precision, index_t total) {
    constexpr index_t long_rows = 12288;  // 16 targets per lane from here on
    PairShape shape{16, 1, 4, 2};
    if (precision == Precision::double_)
        shape = {4, 1, 4, 3};
    else if (total < long_rows)
        shape = {8, 1, 4, 4};
    shape.quantum_tiles = best_quantum(shape, total);
    return shape;
}

PairSchedule pair_schedule(const PairShape& shape, std::int64_t quanta, int multiprocessors) {
    const auto resident = static_cast<std::int64_t>(multiprocessors) * shape.blocks_per_multiprocessor * shape.warps_per_block;
    PairSchedule schedule{quanta, static_cast<int>(std::min(quanta, resident)), 0};
    if (quanta > 0) schedule.longest = (quanta + schedule.warps - 1) / schedule.warps;
    return schedule;
}

std::int64_t pair_meetings(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end) {
    const auto blocks = [&](index_t particles) { return static_cast<int>(shape.blocks(particles)); };
    std::int64_t meetings = 0;
    for (const auto& row : circulant_rows(blocks(total), blocks(begin), blocks(end), blocks(other_begin), blocks(other_end)))
        meetings += row.count;
    return meetings;
}

}  // namespace kasane::gravity
