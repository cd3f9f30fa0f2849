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
#include <array>
#include <random>
#include <set>
#include <tuple>

namespace kasane::gravity {
namespace {

using detail::meeting_rows, detail::count_quanta, detail::warp_shares;

/// Blocks of all particles, and the tile of the second one.
using Tile = std::tuple<int, int, int>;

/// Adds the tiles of quanta [begin, end) of a list, gone through from one to the next or sought one by one.
template <int K>
void walk_through(const std::vector<detail::MeetingRow>& rows, std::int64_t begin, std::int64_t end, bool seek_each, int own_first, int other_first,
                  std::multiset<Tile>& tiles) {
    if (begin == end) return;
    detail::TileWalk<K> walk;
    walk.seek(rows.data(), static_cast<int>(rows.size()), begin);
    for (auto quantum = begin; quantum < end;) {
        EXPECT_EQ(walk.diagonal, own_first + walk.block == other_first + walk.other);
        EXPECT_EQ(walk.first_source(), (walk.other * K + walk.tile) * 32);
        tiles.insert({own_first + walk.block, other_first + walk.other, walk.tile});
        const bool ends = walk.ends_quantum();
        if (ends && ++quantum == end) return;
        if (ends && seek_each) {
            walk.seek(rows.data(), static_cast<int>(rows.size()), quantum);
        } else {
            walk.next();
        }
        if (ends) {
            EXPECT_EQ(walk.tile % walk.tiles, 0);
        }
    }
}

template <int K>
void expect_every_tile_once(const PairShape& shape, index_t total, int members, int warps) {
    const comm::Partition slabs{total, shape.grain(), members};
    std::multiset<Tile> tiles;
    for (int m = 0; m < members; ++m)
        for (int other = 0; other < members; ++other) {
            const auto rows = meeting_rows(shape, total, slabs.begin(m), slabs.end(m), slabs.begin(other), slabs.end(other));
            const auto quanta = count_quanta(shape, rows);
            const auto meetings = pair_meetings(shape, total, slabs.begin(m), slabs.end(m), slabs.begin(other), slabs.end(other));
            EXPECT_EQ(quanta.all, meetings.quanta(shape));
            if (quanta.all == 0) continue;
            const auto first = [&](int of) { return static_cast<int>(shape.blocks(slabs.begin(of))); };
            const auto cut = quanta.coarse / 2;
            for (const auto& [from, to] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, quanta.coarse}}) {
                const auto shares = warp_shares(shape, rows, from, to, warps);
                ASSERT_EQ(shares.size(), static_cast<std::size_t>(warps));
                auto next = from;
                for (const auto& share : shares) {
                    EXPECT_EQ(share.first, next);
                    EXPECT_GE(share.count, 0);
                    EXPECT_LE(share.count, (to - from) / warps + 2);
                    next += share.count;
                    walk_through<K>(rows, share.first, share.first + share.count, false, first(m), first(other), tiles);
                }
                EXPECT_EQ(next, to);
            }
            walk_through<K>(rows, quanta.coarse, quanta.all, true, first(m), first(other), tiles);
        }
    std::multiset<Tile> wanted;
    const int blocks = static_cast<int>(shape.blocks(total));
    for (int block = 0; block < blocks; ++block)
        for (int distance = 0; distance <= circulant_reach(block, blocks); ++distance)
            for (int tile = 0; tile < K; ++tile) wanted.insert({block, (block + distance) % blocks, tile});
    EXPECT_EQ(tiles, wanted) << "K " << K << ", total " << total << ", members " << members << ", warps " << warps;
}

TEST(Meetings, WarpsGoThroughEveryTileOnce) {
    for (const index_t total : {1, 300, 4097, 9000})
        for (const int members : {1, 2, 3, 4, 7})
            for (const int warps : {1, 5, 1056})
                for (const int reach : {0, 3, 1000}) {
                    expect_every_tile_once<16>({16, 16, 4, reach, 4, 2}, total, members, warps);
                    expect_every_tile_once<8>({8, 4, 1, reach, 4, 4}, total, members, warps);
                    expect_every_tile_once<4>({4, 4, 2, reach, 4, 3}, total, members, warps);
                }
}

// Shares of a list with both kinds of quanta have equally many tiles, but for one quantum.
TEST(Meetings, SharesAreEqual) {
    const PairShape shape{16, 16, 2, 5, 4, 2};
    const auto rows = meeting_rows(shape, 40'000, 0, 40'000, 0, 40'000);
    const auto quanta = count_quanta(shape, rows);
    ASSERT_GT(quanta.coarse, 0);
    ASSERT_GT(quanta.all, quanta.coarse);
    constexpr int warps = 37;
    const auto tiles = pair_meetings(shape, 40'000, 0, 40'000, 0, 40'000).tiles(shape);
    for (const auto& share : warp_shares(shape, rows, 0, quanta.all, warps)) {
        std::int64_t here = 0;
        for (auto quantum = share.first; quantum < share.first + share.count; ++quantum)
            here += quantum < quanta.coarse ? shape.coarse_tiles : shape.fine_tiles;
        EXPECT_NEAR(static_cast<double>(here), static_cast<double>(tiles) / warps, shape.coarse_tiles);
    }
}

TEST(Meetings, ShapesFitSlabsAndRuns) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const index_t total : {1, 1000, 12287, 12288, 20000, 65536, 1 << 20, 1 << 26}) {
            const auto shape = pair_shape(precision, total);
            EXPECT_EQ(shape.grain() % source_run, 0);
            EXPECT_EQ(shape.grain() % shape.block(), 0);
            EXPECT_EQ(shape.targets_per_lane % shape.coarse_tiles, 0);
            EXPECT_EQ(shape.targets_per_lane % shape.fine_tiles, 0);
            EXPECT_GE(shape.fine_reach, 1);
        }
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

/// What is left of a term after all its parts, as it should be: less than half of the last quantum; and the parts stand for the rest.
template <class Real>
void expect_whole(double bound, double quantum) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    const detail::Cut<Real> cut(bound);
    for (int k = 0; k < 100'000; ++k) {
        const auto term = static_cast<Real>(bound * std::ldexp(mantissa(random), -(k % 110)));
        Real rest = term;
        double sum = 0;
        for (int part = 0; part < detail::Cut<Real>::parts; ++part) {
            const auto one = cut(part, rest);
            ASSERT_LT(std::abs(cut.value(part, one)), 4 * bound);
            sum += cut.value(part, one);
        }
        ASSERT_LE(std::abs(sum - static_cast<double>(term)), quantum * bound) << term;
    }
}

TEST(Cut, PartsMakeUpTheTerm) {
    for (const double bound : {1.0, 3.7e5, 0.99e-9, 1e30}) {
        expect_whole<float>(bound, 0x1p-91);
        expect_whole<double>(bound, 0x1p-103);
    }
    for (const double bound : {1e-30, 1e37}) {  // near the ends of what float holds, quanta are held there too
        const detail::Cut<float> cut(bound);
        const auto term = static_cast<float>(0.3 * bound);
        float rest = term;
        EXPECT_NEAR(cut.value(0, cut(0, rest)), static_cast<double>(term), 1e-7 * bound);
    }
}

TEST(Cut, PartsOfDoublesAreThoseOfBins) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    for (const double bound : {1.0, 3.7e5, 0.99e-9, 1e30}) {
        const detail::Cut<double> cut(bound);
        const Bins<3> bins(bound);
        for (int k = 0; k < 100'000; ++k) {
            double left = bound * std::ldexp(mantissa(random), -(k % 110)), left_of_bins = left;
            for (int part = 0; part < 3; ++part) ASSERT_EQ(cut(part, left), bins.cut(part, left_of_bins));
        }
    }
}

// Sums of as many terms as the bound allows are the same integers in any order, and right.
TEST(Cut, SumsOfFloatsDoNotDependOnTheOrder) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::vector<float> terms(100'000);
    double size = 0, exact = 0;
    for (auto& term : terms) term = static_cast<float>(std::ldexp(normal(random), -static_cast<int>(random() % 60))), size += std::abs(term), exact += static_cast<double>(term);
    const detail::Cut<float> cut(size);
    const auto sum = [&] {
        std::array<long long, 2> parts{};
        for (float term : terms)
            for (int k = 0; k < 2; ++k) parts[static_cast<std::size_t>(k)] += cut(k, term);
        return parts;
    };
    const auto first = sum();
    EXPECT_NEAR(cut.value(0, first[0]) + cut.value(1, first[1]), exact, 1e-12 * size);
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum(), first);
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
