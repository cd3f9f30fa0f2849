// The circulant order distributed over workers: every tile pair occurs exactly once, for any number of workers.
#include <kasane/gravity/direct/circulant.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kasane::gravity {
namespace {

TEST(Circulant, EveryTilePairOccursOnce) {
    for (int tiles = 1; tiles < 24; ++tiles)
        for (int workers = 1; workers < 7; ++workers) {
            const auto first = [&](int m) { return tiles * m / workers; };
            std::set<std::pair<int, int>> met;
            for (int m = 0; m < workers; ++m)
                for (int other = 0; other < workers; ++other)
                    for (const auto& row : circulant_rows(tiles, first(m), first(m + 1), first(other), first(other + 1)))
                        for (int d = row.distance; d < row.distance + row.count; ++d) {
                            const int partner = (row.tile + d) % tiles;
                            EXPECT_TRUE(row.tile >= first(m) && row.tile < first(m + 1));
                            EXPECT_TRUE(partner >= first(other) && partner < first(other + 1));
                            EXPECT_TRUE(met.insert(std::minmax(row.tile, partner)).second)
                                << tiles << " tiles, " << workers << " workers: " << row.tile << " and " << partner << " form two pairs";
                        }
            EXPECT_EQ(met.size(), static_cast<std::size_t>(tiles) * static_cast<std::size_t>(tiles + 1) / 2);
        }
}

TEST(Circulant, WorkersHaveEquallyManyTilePairs) {
    for (const int workers : {2, 3, 4, 8}) {
        const int tiles = 64 * workers;
        int least = 1 << 30, most = 0;
        for (int m = 0; m < workers; ++m) {
            int mine = 0;
            for (const auto& row : circulant_rows(tiles, 64 * m, 64 * (m + 1), 0, tiles)) mine += row.count;
            least = std::min(least, mine), most = std::max(most, mine);
        }
        EXPECT_EQ(most, least) << workers
                               << " workers";  // with the pairs at the distance tiles / 2, because a slab has an even number of tiles
    }
}

}  // namespace
}  // namespace kasane::gravity
