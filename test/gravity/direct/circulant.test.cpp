// The circulant order dealt out to workers: every pair of blocks is met exactly once, whoever holds what.
#include <kasane/gravity/direct/circulant.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kasane::gravity {
namespace {

TEST(Circulant, EveryPairOfBlocksIsMetOnce) {
    for (int blocks = 1; blocks < 24; ++blocks)
        for (int workers = 1; workers < 7; ++workers) {
            const auto first = [&](int m) { return blocks * m / workers; };
            std::set<std::pair<int, int>> met;
            for (int m = 0; m < workers; ++m)
                for (int other = 0; other < workers; ++other)
                    for (const auto& row : circulant_rows(blocks, first(m), first(m + 1), first(other), first(other + 1)))
                        for (int d = row.distance; d < row.distance + row.count; ++d) {
                            const int partner = (row.block + d) % blocks;
                            EXPECT_TRUE(row.block >= first(m) && row.block < first(m + 1));
                            EXPECT_TRUE(partner >= first(other) && partner < first(other + 1));
                            EXPECT_TRUE(met.insert(std::minmax(row.block, partner)).second)
                                << blocks << " blocks, " << workers << " workers: " << row.block << " and " << partner << " meet twice";
                        }
            EXPECT_EQ(met.size(), static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks + 1) / 2);
        }
}

TEST(Circulant, WorkersMeetEquallyMany) {
    for (const int workers : {2, 3, 4, 8}) {
        const int blocks = 64 * workers;
        int least = 1 << 30, most = 0;
        for (int m = 0; m < workers; ++m) {
            int mine = 0;
            for (const auto& row : circulant_rows(blocks, 64 * m, 64 * (m + 1), 0, blocks)) mine += row.count;
            least = std::min(least, mine), most = std::max(most, mine);
        }
        EXPECT_EQ(most, least) << workers << " workers";  // of the blocks right across too, of which a slab has an even number
    }
}

}  // namespace
}  // namespace kasane::gravity
