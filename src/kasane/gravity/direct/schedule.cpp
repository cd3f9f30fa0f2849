#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace {

// Targets per multiprocessor from which thread blocks have 256 threads with 4 targets each: 12,288 on the 132 of an H200.
constexpr index_t many_targets_per_multiprocessor = 93;
// With fewer thread blocks per multiprocessor, threads have one target instead of two, which doubles their number.
constexpr index_t few_blocks = 8;
// Pairs per multiprocessor up to which a whole evaluation takes one launch: N = 8,300 on the 132 of an H200. One launch of sum_tiles and
// three take 41.7 and 44.5 us at N = 8,192, 71.6 and 64.8 at 10,240 (`kasane bench gravity.direct.tile`, H200, single precision, equal
// masses, 2026-11).
constexpr index_t few_pairs = 1 << 19;

/// Number of shares of the sources that keeps every multiprocessor busy to the end: minimises waves times the work of one thread block.
/// For each number of waves the largest number of shares is the best; more than most_waves gain nothing.
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

TileShape tile_shape(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors, bool softenings) {
    const bool single = precision == Precision::single_;
    if (!potential && !softenings && targets >= many_targets_per_multiprocessor * multiprocessors) return {256, single ? 4 : 2, 2};
    const auto blocks = [&](index_t n, index_t block) { return (n + block - 1) / block; };
    if (blocks(targets, 256) * blocks(sources, source_run) < few_blocks * multiprocessors || (softenings && potential))
        return {128, 1, single ? 8 : 4};
    return {128, 2, single ? 6 : potential ? 3 : 4};
}

TileSchedule tile_schedule(index_t targets, index_t sources, Precision precision, bool potential, int multiprocessors, bool softenings) {
    TileSchedule schedule{tile_shape(targets, sources, precision, potential, multiprocessors, softenings)};
    const auto& shape = schedule.shape;
    schedule.target_blocks = static_cast<int>((std::max<index_t>(targets, 1) + shape.block_targets() - 1) / shape.block_targets());
    const int runs = static_cast<int>((std::max<index_t>(sources, 1) + source_run - 1) / source_run);
    const int resident = multiprocessors * shape.blocks_per_multiprocessor;
    schedule.shares = best_shares(schedule.target_blocks, runs, resident);
    schedule.waves = static_cast<int>((static_cast<index_t>(schedule.target_blocks) * schedule.shares + resident - 1) / resident);
    schedule.runs = (runs + schedule.shares - 1) / schedule.shares;
    return schedule;
}

bool whole_in_one_launch(index_t targets, index_t sources, Precision precision, int multiprocessors) {
    return tile_shape(targets, sources, precision, false, multiprocessors).threads == 128 &&
           static_cast<double>(targets) * static_cast<double>(sources) <= static_cast<double>(few_pairs * multiprocessors);
}

std::array<int, 2> PairShape::reached(std::size_t k, int from, int to) const {
    const int nearest = k == 0 ? 0 : units[k - 1].reach;
    return {std::clamp(nearest, from, to), std::clamp(units[k].reach, from, to)};
}

PairShape pair_shape(Precision precision, index_t total) {
    constexpr index_t long_rows = 12288;  // particles from which a lane has 16 targets
    constexpr int everywhere = std::numeric_limits<int>::max();
    PairShape shape{16, {{{2, 0}, {4, 0}, {16, everywhere}}}, 4, 2};
    if (precision == Precision::double_)
        shape = {4, {{{1, 0}, {1, 0}, {4, everywhere}}}, 4, 3};
    else if (total < long_rows)
        shape = {8, {{{1, 0}, {1, 0}, {8, everywhere}}}, 4, 4};
    // With work units of one size the warps end up to one unit apart. Half a unit per warp, divided into smaller units, evens that out.
    // The number of warps is that of four devices with 132 multiprocessors.
    constexpr double devices = 4, half = 0.5;
    const auto tiles = static_cast<double>(shape.tiles(total));
    double strips = 0;
    for (std::size_t k = 0; k + 1 < shape.units.size(); ++k) {
        strips += devices * half * shape.units[k + 1].strips * shape.warps(132);
        shape.units[k].reach = static_cast<int>(std::min(std::ceil(strips / (tiles * shape.targets_per_lane)), tiles / 2 + 1));
    }
    return shape;
}

TilePairs count_tile_pairs(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end) {
    const auto tiles = [&](index_t particles) { return static_cast<int>(shape.tiles(particles)); };
    TilePairs pairs;
    for (const auto& row : circulant_rows(tiles(total), tiles(begin), tiles(end), tiles(other_begin), tiles(other_end)))
        for (std::size_t k = 0; k < shape.units.size(); ++k) {
            const auto [from, to] = shape.reached(k, row.distance, row.distance + row.count);
            if (from == to) continue;
            const int here = shape.units[k].strips;
            pairs.strips += static_cast<std::int64_t>(to - from) * shape.targets_per_lane;
            pairs.units += static_cast<std::int64_t>(to - from) * (shape.targets_per_lane / here);
            pairs.last = pairs.last == 0 ? here : std::min(pairs.last, here);
        }
    return pairs;
}

}  // namespace kasane::gravity
