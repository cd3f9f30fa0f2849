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
    PairShape shape = precision == Precision::double_ ? PairShape{4, 4, 1, 0, 4, 3} : total < long_rows ? PairShape{8, 8, 1, 0, 4, 4} : PairShape{16, 16, 2, 0, 4, 2};
    // Fine quanta: as much work as evens out the coarse ones, a quarter more than one of them for every warp of four devices with 132 multiprocessors.
    const auto blocks = static_cast<double>(shape.blocks(total));
    const double tiles = 4 * 1.25 * shape.coarse_tiles * shape.warps(132);
    shape.fine_reach = static_cast<int>(std::min(std::ceil(tiles / (blocks * shape.targets_per_lane)), blocks / 2 + 1));
    return shape;
}

PairMeetings pair_meetings(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end) {
    const auto blocks = [&](index_t particles) { return static_cast<int>(shape.blocks(particles)); };
    PairMeetings meetings;
    for (const auto& row : circulant_rows(blocks(total), blocks(begin), blocks(end), blocks(other_begin), blocks(other_end))) {
        const int fine = std::clamp(shape.fine_reach - row.distance, 0, row.count);
        meetings.fine += fine, meetings.coarse += row.count - fine;
    }
    return meetings;
}

}  // namespace kasane::gravity
