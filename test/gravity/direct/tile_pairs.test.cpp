// The schedule of the kernel `pair`, executed on the host: every strip of every tile pair occurs once, for any number of workers; and the
// fixed-point parts of its terms.
#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/direct/bound.body.hpp>
#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/fixed_point.body.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <tuple>

namespace kasane::gravity {
namespace {

using detail::count_strips, detail::even_chunks, detail::guided_chunks, detail::tile_pair_rows, detail::Chunk;

/// Numbers of the two tiles among all tiles, number of the strip in the second tile, and strips of the work unit.
using Strip = std::tuple<int, int, int, int>;

/// One call of the kernel for two source blocks.
struct Call {
    std::vector<detail::TilePairRow> rows;
    int own_first, other_first;  ///< numbers of the first tiles of the source blocks
};

/// Adds the strips of a chunk, as a warp goes through them.
template <int K>
void walk_through(const Call& call, const Chunk& chunk, std::multiset<Strip>& strips) {
    if (chunk.units == 0) return;
    detail::StripWalk<K> walk(call.rows.data(), chunk);
    for (auto left = chunk.units;;) {
        const int own = call.own_first + walk.tile, other = call.other_first + walk.other;
        EXPECT_EQ(walk.diagonal, own == other);
        EXPECT_EQ(walk.first_source(), (walk.other * K + walk.strip) * 32);
        strips.insert({own, other, walk.strip, walk.strips});
        if (walk.ends_unit() && --left == 0) return;
        walk.next();
    }
}

PairShape shape_of(int targets_per_lane, std::array<WorkUnits, 3> units) { return {targets_per_lane, units, 4, 2}; }

template <int K>
void expect_every_strip_once(const PairShape& shape, index_t total, int workers, int warps) {
    const comm::Partition slabs{total, shape.grain(), workers};
    std::multiset<Strip> strips;
    for (int m = 0; m < workers; ++m)
        for (int other = 0; other < workers; ++other) {
            const auto first = [&](int of) { return static_cast<int>(shape.tiles(slabs.begin(of))); };
            const Call call{tile_pair_rows(shape, total, slabs.begin(m), slabs.end(m), slabs.begin(other), slabs.end(other)), first(m),
                            first(other)};
            const auto all = count_strips(shape, call.rows);
            const auto pairs = count_tile_pairs(shape, total, slabs.begin(m), slabs.end(m), slabs.begin(other), slabs.end(other));
            EXPECT_EQ(all, pairs.strips);
            std::int64_t units = 0;
            const auto evenly = even_chunks(shape, call.rows, 0, all / 4, warps);
            ASSERT_LE(evenly.size(), static_cast<std::size_t>(warps));
            for (const auto& chunk : evenly) {
                units += chunk.units;
                EXPECT_GT(chunk.units, 0);
                const auto before = strips.size();
                walk_through<K>(call, chunk, strips);
                EXPECT_LE(strips.size() - before, static_cast<std::size_t>(all) / 4 / evenly.size() + 1 + K);
            }
            for (const auto& chunk : guided_chunks(shape, call.rows, all / 4, all, warps)) {
                units += chunk.units;
                EXPECT_GT(chunk.units, 0);
                walk_through<K>(call, chunk, strips);
            }
            EXPECT_EQ(units, pairs.units);
        }
    std::multiset<Strip> wanted;
    const int tiles = static_cast<int>(shape.tiles(total));
    for (int tile = 0; tile < tiles; ++tile)
        for (int distance = 0; distance <= circulant_reach(tile, tiles); ++distance) {
            const auto units = std::find_if(shape.units.begin(), shape.units.end(), [&](const auto& of) { return distance < of.reach; });
            ASSERT_NE(units, shape.units.end());
            for (int strip = 0; strip < K; ++strip) wanted.insert({tile, (tile + distance) % tiles, strip, units->strips});
        }
    EXPECT_EQ(strips, wanted) << "K " << K << ", total " << total << ", workers " << workers << ", warps " << warps;
}

TEST(TilePairs, WarpsGoThroughEveryStripOnce) {
    for (const index_t total : {1, 300, 4097, 9000})
        for (const int workers : {1, 2, 3, 4, 7})
            for (const int warps : {1, 5, 1056})
                for (const int reach : {0, 3, 1000}) {
                    expect_every_strip_once<16>(shape_of(16, {{{2, reach / 2}, {4, reach}, {16, 10'000}}}), total, workers, warps);
                    expect_every_strip_once<8>(shape_of(8, {{{1, reach}, {4, reach + 2}, {8, 10'000}}}), total, workers, warps);
                    expect_every_strip_once<4>(shape_of(4, {{{1, reach}, {1, reach}, {4, 10'000}}}), total, workers, warps);
                }
}

TEST(TilePairs, ChunksAreEvenOrBecomeSmaller) {
    const auto shape = shape_of(16, {{{2, 3}, {4, 8}, {16, 10'000}}});
    const auto rows = tile_pair_rows(shape, 40'000, 0, 40'000, 0, 40'000);
    EXPECT_EQ(rows.front().strips, 16);
    EXPECT_EQ(rows.back().strips, 2);
    constexpr int warps = 37;
    const auto all = count_strips(shape, rows);
    const auto strips_of = [&](const Chunk& chunk) {
        std::multiset<Strip> strips;
        walk_through<16>({rows, 0, 0}, chunk, strips);
        return static_cast<double>(strips.size());
    };
    const auto mean = static_cast<double>(all) / warps;
    const auto even = even_chunks(shape, rows, 0, all, warps);
    EXPECT_EQ(even.size(), static_cast<std::size_t>(warps));
    for (const auto& chunk : even) EXPECT_NEAR(strips_of(chunk), mean, 16);
    const auto falling = guided_chunks(shape, rows, 0, all, warps);
    EXPECT_NEAR(strips_of(falling.front()), mean / 2, 16);
    EXPECT_EQ(strips_of(falling.back()), 2);
    for (std::size_t k = warps; k < falling.size(); ++k) EXPECT_LE(strips_of(falling[k]), strips_of(falling[k - warps]) + 16);
}

TEST(TilePairs, ShapesFitSlabsAndRuns) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const index_t total : {1, 1000, 12287, 12288, 20000, 65536, 1 << 20, 1 << 26}) {
            const auto shape = pair_shape(precision, total);
            EXPECT_EQ(shape.grain() % source_run, 0);
            EXPECT_EQ(shape.grain() % shape.tile(), 0);
            int strips = 0, reach = 0;
            for (const auto& units : shape.units) {
                EXPECT_EQ(shape.targets_per_lane % units.strips, 0);
                EXPECT_GE(units.strips, strips);
                EXPECT_GE(units.reach, reach);
                strips = units.strips, reach = units.reach;
            }
            EXPECT_GE(shape.units.front().reach, 1);
            EXPECT_GT(shape.units.back().reach, shape.tiles(total) / 2);
        }
}

TEST(TilePairs, TileSchedulesCoverTheirWork) {
    for (const index_t targets : {1, 300, 4097, 100'000})
        for (const index_t sources : {1, 1000, 100'000})
            for (const bool potential : {false, true}) {
                const auto schedule = tile_schedule(targets, sources, Precision::single_, potential, 132);
                EXPECT_GE(static_cast<index_t>(schedule.target_blocks) * schedule.shape.block_targets(), targets);
                EXPECT_GE(static_cast<index_t>(schedule.runs) * schedule.shares * source_run, sources);
                EXPECT_GE(schedule.waves * 132 * schedule.shape.blocks_per_multiprocessor, schedule.target_blocks * schedule.shares);
            }
}

TEST(TilePairs, WholeEvaluationsInOneLaunchHaveFewPairsAndTargetBlocks) {
    for (const int multiprocessors : {1, 20, 132})
        for (const auto precision : {Precision::single_, Precision::double_})
            for (const index_t targets : {1, 100, 1000, 8192, 20'000})
                for (const index_t sources : {1, 8192, 1 << 20, 1 << 29}) {
                    if (!whole_in_one_launch(targets, sources, precision, multiprocessors)) continue;
                    const auto schedule = tile_schedule(targets, sources, precision, false, multiprocessors);
                    EXPECT_EQ(schedule.shape.threads, 128);  // the only shape that is compiled for it
                    EXPECT_LE(schedule.target_blocks, most_target_blocks(multiprocessors));
                    EXPECT_LE(targets * sources, (index_t{1} << 19) * multiprocessors);
                }
    EXPECT_TRUE(whole_in_one_launch(8192, 8192, Precision::single_, 132));
    EXPECT_FALSE(whole_in_one_launch(1 << 14, 1 << 14, Precision::single_, 132));
}

TEST(TilePairs, GroupSchedulesCoverTheirWork) {
    for (const int multiprocessors : {1, 20, 132})
        for (const index_t targets : {1, 63, 64, 65, 1000, 3072, 8192, 8300})
            for (const index_t sources : {1, 257, 1024, 1025, 8192, 8448}) {
                const auto schedule = group_schedule(targets, sources, multiprocessors);
                if (!schedule) continue;
                EXPECT_GE(static_cast<index_t>(schedule.target_blocks) * schedule.shape.block_targets(), targets);
                EXPECT_LT(static_cast<index_t>(schedule.target_blocks - 1) * schedule.shape.block_targets(), targets);
                EXPECT_GE(static_cast<index_t>(schedule.shares) * groups_of_block * source_run, sources);
                EXPECT_LT(static_cast<index_t>(schedule.shares - 1) * groups_of_block * source_run, sources);
                EXPECT_LE(schedule.target_blocks, most_target_blocks(multiprocessors));
            }
    EXPECT_EQ(group_schedule(8192, 8192, 132).shape.threads, large_groups.threads);
    EXPECT_EQ(group_schedule(4096, 4096, 132).shape.threads, small_groups.threads);
    EXPECT_EQ(group_schedule(2048, 2048, 132).shape.threads, small_groups.threads);
    EXPECT_FALSE(group_schedule(3072, 3072, 132));  // 144 thread blocks on 132 multiprocessors
    EXPECT_FALSE(group_schedule(64, 1 << 20, 132));
    EXPECT_FALSE(group_schedule(0, 8192, 132));
}

TEST(TilePairs, PeerSchedulesTakeHalfOfTheDeviceAtMost) {
    for (const int multiprocessors : {1, 20, 132})
        for (const index_t targets : {1, 64, 1000, 4096, 8192})
            for (const index_t sources : {1, 1025, 8192, 8448}) {
                const auto schedule = peer_schedule(targets, sources, multiprocessors);
                if (!schedule) continue;
                EXPECT_GE(static_cast<index_t>(schedule.target_blocks) * schedule.shape.block_targets(), targets);
                EXPECT_GE(static_cast<index_t>(schedule.shares) * groups_of_block * source_run, sources);
                EXPECT_LE(2 * schedule.target_blocks * schedule.shares, schedule.shape.blocks_per_multiprocessor * multiprocessors);
            }
    EXPECT_EQ(peer_schedule(4096, 8192, 132).shape.threads, large_groups.threads);
    EXPECT_TRUE(peer_schedule(2048, 8192, 132));
    EXPECT_FALSE(peer_schedule(8192, 8192, 132));  // 256 thread blocks where 264 fit
    EXPECT_FALSE(peer_schedule(4096, 8449, 132));
}

/// Checks that the parts of a term add up to it within `resolution` times the bound.
template <class Real>
void expect_whole(double bound, double resolution) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    const detail::FixedPoint<Real> fixed_point(bound);
    for (int k = 0; k < 100'000; ++k) {
        const auto term = static_cast<Real>(bound * std::ldexp(mantissa(random), -(k % 110)));
        Real rest = term;
        double sum = 0;
        for (int part = 0; part < detail::FixedPoint<Real>::parts; ++part) {
            const auto one = fixed_point(part, rest);
            ASSERT_LT(std::abs(fixed_point.value(part, one)), 4 * bound);
            sum += fixed_point.value(part, one);
        }
        ASSERT_LE(std::abs(sum - static_cast<double>(term)), resolution * bound) << term;
    }
}

TEST(FixedPoint, PartsMakeUpTheTerm) {
    for (const double bound : {1.0, 3.7e5, 0.99e-9, 1e30}) {
        expect_whole<float>(bound, 0x1p-91);
        expect_whole<double>(bound, 0x1p-103);
    }
    for (const double bound : {1e-30, 1e37}) {  // near the ends of the range of float, where the resolution is clamped
        const detail::FixedPoint<float> fixed_point(bound);
        const auto term = static_cast<float>(0.3 * bound);
        float rest = term;
        EXPECT_NEAR(fixed_point.value(0, fixed_point(0, rest)), static_cast<double>(term), 1e-7 * bound);
    }
}

TEST(FixedPoint, PartsOfDoublesEqualThoseOfBins) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    for (const double bound : {1.0, 3.7e5, 0.99e-9, 1e30}) {
        const detail::FixedPoint<double> fixed_point(bound);
        const Bins<3> bins(bound);
        for (int k = 0; k < 100'000; ++k) {
            double left = bound * std::ldexp(mantissa(random), -(k % 110)), left_of_bins = left;
            for (int part = 0; part < 3; ++part) ASSERT_EQ(fixed_point(part, left), bins.cut(part, left_of_bins));
        }
    }
}

// Sums of terms up to the bound are the same integers in any order, and correct.
TEST(FixedPoint, SumsOfFloatsDoNotDependOnTheOrder) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::vector<float> terms(100'000);
    double size = 0, exact = 0;
    for (auto& term : terms)
        term = static_cast<float>(std::ldexp(normal(random), -static_cast<int>(random() % 60))), size += std::abs(term),
        exact += static_cast<double>(term);
    const detail::FixedPoint<float> fixed_point(size);
    const auto sum = [&] {
        std::array<long long, 2> parts{};
        for (float term : terms)
            for (int k = 0; k < 2; ++k) parts[static_cast<std::size_t>(k)] += fixed_point(k, term);
        return parts;
    };
    const auto first = sum();
    EXPECT_NEAR(fixed_point.value(0, first[0]) + fixed_point.value(1, first[1]), exact, 1e-12 * size);
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum(), first);
}

TEST(FixedPoint, BoundsEqualThoseOfTheFrame) {
    for (const double softening : {0.0, 1e-9, 0.01, 10.0})
        for (const double extent : {0.0, 1e-3, 5.0}) {
            const DirectFrame frame{{1, 2, 3}, extent, 0.25, 1000};
            const auto smaller = [&](auto of) { return std::min(of(softening), of(0.0)); };
            const double acceleration = smaller([&](double eps) { return frame.acceleration_bound(eps); });
            const double potential = smaller([&](double eps) { return frame.potential_bound(eps); });
            EXPECT_NEAR(detail::lower_acceleration_bound(250, extent, softening), acceleration, 1e-14 * acceleration);
            EXPECT_NEAR(detail::lower_potential_bound(250, extent, softening), potential, 1e-14 * potential);
        }
}

}  // namespace
}  // namespace kasane::gravity
