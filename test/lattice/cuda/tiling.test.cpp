// The device's numbering of sites: every place is one site, and the tables give every neighbour. On the host.
#include <kasane/lattice/dirac/cuda/tiling.hpp>

#include <gtest/gtest.h>

namespace kasane::lattice::device {
namespace {

class Tilings : public testing::TestWithParam<Extents> {};

TEST_P(Tilings, NumberEverySiteAndFindItsNeighbours) {
    const auto& n = GetParam();
    for (const int most : {8, 40, 128, 256}) {
        const auto made = tiling(n, most);
        const auto& t = made.tiles;
        ASSERT_LE(t.per_tile, static_cast<std::uint32_t>(most));
        for (const Parity parity : {Parity::even, Parity::odd}) {
            std::vector<bool> seen(static_cast<std::size_t>(n.half()));
            for (index_t i = 0; i < n.half(); ++i) {
                const auto place = static_cast<std::uint32_t>(i);
                const Site s = t.site(parity, place);
                ASSERT_EQ(s.parity(), parity);
                ASSERT_EQ(t.place(s), place);
                ASSERT_EQ(t.tile_of(place), place / t.per_tile);
                seen[static_cast<std::size_t>(n.checkerboard(s))] = true;
                const auto& lane = made.lanes[static_cast<std::size_t>(parity) * t.per_tile + place % t.per_tile];
                const auto& tiles = made.neighbours[place / t.per_tile];
                for (int d = 0; d < directions; ++d) {
                    const int mu = d / 2, step = d % 2 == 0 ? 1 : -1;
                    const bool leaves = lane.neighbour[d] & leaves_tile;
                    const std::uint32_t tile = leaves ? tiles.neighbour[d] : place / t.per_tile;
                    ASSERT_EQ((tile & ~crosses_boundary) * t.per_tile + (lane.neighbour[d] & ~leaves_tile),
                              t.place(n.shifted(s, mu, step)));
                    const bool crosses = mu == 3 && (s[3] + step < 0 || s[3] + step >= n[3]);
                    ASSERT_EQ((tile & crosses_boundary) != 0, crosses);
                }
            }
            for (const bool each : seen) ASSERT_TRUE(each);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lattices, Tilings,
                         testing::Values(Extents{{2, 2, 2, 2}}, Extents{{4, 4, 4, 4}}, Extents{{2, 4, 6, 8}}, Extents{{6, 2, 10, 4}},
                                         Extents{{10, 10, 10, 10}}, Extents{{16, 8, 8, 14}}));

/// A block of threads should find most of its neighbours in its own tile.
TEST(Tiling, OfTheBenchmarkIsCompact) {
    EXPECT_EQ(tiling(Extents{{32, 32, 32, 64}}, 128).tiles.tile, (Extents{{8, 4, 4, 2}}));
    EXPECT_EQ(tiling(Extents{{32, 32, 32, 64}}, 256).tiles.tile, (Extents{{8, 4, 4, 4}}));
}

/// Division by multiplication, where numbers of places are largest.
TEST(Tiling, DividesUpToTwoToTheThirtyOne) {
    const auto t = tiling(Extents{{48, 48, 48, 96}}, 200).tiles;
    for (std::uint64_t i = 0; i < (1ull << 31); i += 9973) {
        const auto place = static_cast<std::uint32_t>(i);
        ASSERT_EQ(t.tile_of(place), place / t.per_tile);
        const auto edge = place / t.per_tile * t.per_tile;
        ASSERT_EQ(t.tile_of(edge), edge / t.per_tile);
        ASSERT_EQ(t.tile_of(edge + t.per_tile - 1), edge / t.per_tile);
    }
}

}  // namespace
}  // namespace kasane::lattice::device
