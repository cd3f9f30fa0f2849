// The work of the kernel `pair` as its warps go through it, on the host: every tile of every meeting once, whoever holds what; and how its
// terms are cut into parts.
#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/direct/bound.body.hpp>
#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/cut.body.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/direct/meetings.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace kasane::gravity {
namespace {

using detail::meeting_rows, detail::count_quanta, detail::warp_starts;

/// Blocks of all particles, and the tile of the second one.
using Tile = std::tuple<int, int, int>;

/// Adds the tiles that the warps of one call go through.
template <int K>
void walk_through(const PairShape& shape, index_t total, const comm::Partition& slabs, int own, int other, int warps, std::multiset<Tile>& tiles) {
    const auto rows = meeting_rows(shape, total, slabs.begin(own), slabs.end(own), slabs.begin(other), slabs.end(other));
    const auto quanta = count_quanta(shape, rows);
    if (quanta == 0) return;
    const int own_first = static_cast<int>(shape.blocks(slabs.begin(own))), other_first = static_cast<int>(shape.blocks(slabs.begin(other)));
    std::int64_t walked = 0;
    for (const auto& [from, to] : {std::pair{std::int64_t{0}, quanta / 4}, std::pair{quanta / 4, quanta}})
        for (const auto& start : warp_starts(shape, rows, from, to, warps)) {
            walked += start.quanta;
            if (start.quanta == 0) continue;
            detail::TileWalk<K> walk(rows.data(), start, shape.quantum_tiles);
            EXPECT_EQ(walk.tile % shape.quantum_tiles, 0);
            for (auto left = start.quanta * shape.quantum_tiles; left > 0; --left) {
                EXPECT_EQ(walk.diagonal, own_first + walk.block == other_first + walk.other);
                EXPECT_EQ(walk.first_source(), (walk.other * K + walk.tile) * 32);
                tiles.insert({own_first + walk.block, other_first + walk.other, walk.tile});
                if (left == 1) {
                    EXPECT_TRUE(walk.ends_quantum(shape.quantum_tiles));
                } else {
                    walk.next();
                }
            }
        }
    EXPECT_EQ(walked, quanta);
}

template <int K>
void expect_every_tile_once(int quantum, index_t total, int members, int warps) {
    const PairShape shape{K, quantum, 4, 2};
    const comm::Partition slabs{total, shape.grain(), members};
    std::multiset<Tile> tiles;
    for (int m = 0; m < members; ++m)
        for (int other = 0; other < members; ++other) walk_through<K>(shape, total, slabs, m, other, warps, tiles);
    std::multiset<Tile> wanted;
    const int blocks = static_cast<int>(shape.blocks(total));
    for (int block = 0; block < blocks; ++block)
        for (int distance = 0; distance <= circulant_reach(block, blocks); ++distance)
            for (int tile = 0; tile < K; ++tile) wanted.insert({block, (block + distance) % blocks, tile});
    EXPECT_EQ(tiles, wanted) << "K " << K << ", quantum " << quantum << ", total " << total << ", members " << members << ", warps " << warps;
}

TEST(Meetings, WarpsGoThroughEveryTileOnce) {
    for (const index_t total : {1, 300, 4097, 9000})
        for (const int members : {1, 2, 3, 4, 7})
            for (const int warps : {1, 5, 1056}) {
                expect_every_tile_once<16>(16, total, members, warps);
                expect_every_tile_once<16>(4, total, members, warps);
                expect_every_tile_once<8>(1, total, members, warps);
                expect_every_tile_once<4>(2, total, members, warps);
            }
}

TEST(Meetings, ShapesFitSlabsAndRuns) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const index_t total : {1, 1000, 12287, 12288, 20000, 65536, 1 << 20, 1 << 26}) {
            const auto shape = pair_shape(precision, total);
            EXPECT_EQ(shape.grain() % source_run, 0);
            EXPECT_EQ(shape.grain() % shape.block(), 0);
            EXPECT_EQ(shape.targets_per_lane % shape.quantum_tiles, 0);
            const auto schedule = pair_schedule(shape, pair_meetings(shape, total, 0, total, 0, total) * shape.quanta_per_meeting(), 132);
            EXPECT_GE(schedule.longest * schedule.warps, schedule.quanta);
            EXPECT_LT((schedule.longest - 1) * schedule.warps, schedule.quanta);
        }
    EXPECT_EQ(pair_schedule(pair_shape(Precision::single_, 1000), 0, 132).warps, 0);
}

TEST(Meetings, TileSchedulesCoverTheirWork) {
    for (const index_t targets : {1, 300, 4097, 100'000})
        for (const index_t sources : {1, 1000, 100'000})
            for (const bool potential : {false, true}) {
                const auto schedule = tile_schedule(targets, sources, Precision::single_, potential, 132);
                EXPECT_GE(static_cast<index_t>(schedule.target_blocks) * schedule.shape.block_targets(), targets);
                EXPECT_GE(static_cast<index_t>(schedule.runs) * schedule.shares * source_run, sources);
                EXPECT_GE(schedule.waves * 132 * schedule.shape.blocks_per_multiprocessor, schedule.target_blocks * schedule.shares);
            }
}

TEST(Cut, MakesThePartsOfBins) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    for (const double bound : {1.0, 3.7e5, 0.99e-9, 1e30}) {
        const detail::Cut<float> single(bound);
        const detail::Cut<double> twice(bound);
        const Bins<2> two(bound);
        const Bins<3> three(bound);
        for (int k = 0; k < 100'000; ++k) {
            const double term = bound * std::ldexp(mantissa(random), -(k % 110));
            auto left = static_cast<float>(term);
            double left_of_bins = static_cast<double>(left);
            for (int part = 0; part < 2; ++part) ASSERT_EQ(static_cast<double>(single(part, left)), two.cut(part, left_of_bins)) << term;
            double left_twice = term, left_of_three = term;
            for (int part = 0; part < 3; ++part) ASSERT_EQ(twice(part, left_twice), three.cut(part, left_of_three)) << term;
        }
    }
}

// Halves of a quantum, whose rounding could go either way, and the ends of the range where anything is cut.
TEST(Cut, TiesGoWhereBinsTakeThem) {
    const detail::Cut<float> cut(1.0);
    const Bins<2> bins(1.0);
    const double quantum = 0x1p-50;
    for (int k = 0; k < 4096; ++k)
        for (const double size : {(k + 0.5) * quantum, k * quantum, 0x1p23 * quantum + k * quantum, 0x1p23 * quantum - (k + 0.5) * quantum})
            for (const double term : {size, -size}) {
                auto left = static_cast<float>(term);
                double left_of_bins = static_cast<double>(left);
                ASSERT_EQ(static_cast<double>(cut(0, left)), bins.cut(0, left_of_bins)) << term / quantum;
                ASSERT_EQ(static_cast<double>(left), left_of_bins);
            }
}

TEST(Cut, BoundsAreThoseOfTheFrame) {
    for (const double softening : {0.0, 1e-9, 0.01, 10.0})
        for (const double extent : {0.0, 1e-3, 5.0}) {
            const DirectFrame frame{{1, 2, 3}, extent, 0.25, 1000};
            const auto smaller = [&](auto of) { return std::min(of(softening), of(0.0)); };
            const double acceleration = smaller([&](double eps) { return frame.acceleration_bound(eps); });
            const double potential = smaller([&](double eps) { return frame.potential_bound(eps); });
            EXPECT_NEAR(detail::acceleration_bound(250, extent, softening), acceleration, 1e-14 * acceleration);
            EXPECT_NEAR(detail::potential_bound(250, extent, softening), potential, 1e-14 * potential);
        }
}

}  // namespace
}  // namespace kasane::gravity
