// Keys: every prefix of 3 l bits is a cell of level l, and each cell has one prefix. Consecutive cells of Hilbert's curve share a face.
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/tree/curve.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace kasane::gravity {
namespace {

struct Cell {
    int x = -1, y = -1, z = -1;
};

using Key = std::uint64_t (*)(std::uint32_t, std::uint32_t, std::uint32_t);

std::uint64_t hilbert(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return hilbert_key(x, y, z); }
std::uint64_t morton(std::uint32_t x, std::uint32_t y, std::uint32_t z) { return morton_key(x, y, z); }

/// The cells of a level along a curve; fails if two cells share a key or a key is out of range.
std::vector<Cell> along(Key key, int level) {
    const int width = 1 << level;
    std::vector<Cell> cells(std::size_t{1} << (3 * level));
    for (int x = 0; x < width; ++x)
        for (int y = 0; y < width; ++y)
            for (int z = 0; z < width; ++z) {
                const auto index = [&](int i) { return static_cast<std::uint32_t>(i) << (key_levels - level); };
                const auto place = key(index(x), index(y), index(z)) >> key_shift(level);
                EXPECT_LT(place, cells.size());
                if (place >= cells.size()) return {};
                EXPECT_EQ(cells[place].x, -1) << "two cells share key " << place;
                cells[place] = {x, y, z};
            }
    return cells;
}

TEST(Curve, MortonKeyInterleavesBits) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto bits = random_bits(3, 0, i);
        const std::uint32_t mask = (1u << key_levels) - 1;
        const auto x = static_cast<std::uint32_t>(bits.low) & mask, y = static_cast<std::uint32_t>(bits.low >> 32) & mask,
                   z = static_cast<std::uint32_t>(bits.high) & mask;
        std::uint64_t expected = 0;
        for (int bit = key_levels - 1; bit >= 0; --bit)
            expected = expected << 3 | (x >> bit & 1) << 2 | (y >> bit & 1) << 1 | (z >> bit & 1);
        ASSERT_EQ(morton_key(x, y, z), expected);
    }
    EXPECT_EQ(morton_key(0x1fffff, 0x1fffff, 0x1fffff), ~std::uint64_t{0} >> 1);
}

TEST(Curve, EachCellHasOneKey) {
    for (int level = 1; level <= 5; ++level) {
        along(hilbert, level);
        along(morton, level);
    }
}

TEST(Curve, ConsecutiveHilbertCellsShareAFace) {
    for (int level = 1; level <= 6; ++level) {
        const auto cells = along(hilbert, level);
        ASSERT_FALSE(cells.empty());
        for (std::size_t i = 1; i < cells.size(); ++i) {
            const auto &a = cells[i - 1], &b = cells[i];
            ASSERT_EQ(std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z), 1) << "level " << level << ", key " << i;
        }
    }
}

/// Also on the deepest levels: all points of a cell have the same prefix, and the other half of its parent along x has another one with
/// the same prefix of the parent.
TEST(Curve, KeyPrefixesAreCells) {
    for (const Key key : {Key{hilbert}, Key{morton}})
        for (std::uint64_t i = 0; i < 500; ++i) {
            const auto bits = random_bits(3, 1, i);
            const std::uint32_t mask = (1u << key_levels) - 1;
            const auto x = static_cast<std::uint32_t>(bits.low) & mask, y = static_cast<std::uint32_t>(bits.low >> 32) & mask,
                       z = static_cast<std::uint32_t>(bits.high) & mask;
            const auto own = key(x, y, z);
            ASSERT_EQ(own >> 63, 0u);
            for (int level = 0; level <= key_levels; ++level) {
                const std::uint32_t inside = (1u << (key_levels - level)) - 1;
                const auto corner = key(x & ~inside, y & ~inside, z & ~inside), opposite = key(x | inside, y | inside, z | inside);
                ASSERT_EQ(own >> key_shift(level), corner >> key_shift(level));
                ASSERT_EQ(own >> key_shift(level), opposite >> key_shift(level));
                if (level == 0) continue;
                const std::uint32_t side = 1u << (key_levels - level);
                const auto beside = key(x ^ side, y, z);  // the other half of the parent along x
                ASSERT_NE(own >> key_shift(level), beside >> key_shift(level));
                ASSERT_EQ(own >> key_shift(level - 1), beside >> key_shift(level - 1));
            }
        }
}

TEST(Curve, GridIndexClampsToTheBorder) {
    constexpr std::uint32_t last = (1u << key_levels) - 1;
    EXPECT_EQ(grid_index(-1.f), 0u);
    EXPECT_EQ(grid_index(0.f), 1u << (key_levels - 1));
    EXPECT_EQ(grid_index(std::nextafter(0.f, -1.f)), 1u << (key_levels - 1)) << "x + 1 rounds to 1";
    EXPECT_EQ(grid_index(-0x1p-20f), (1u << (key_levels - 1)) - 1);
    EXPECT_EQ(grid_index(1.f), last);
    EXPECT_EQ(grid_index(1e18f), last);
    EXPECT_EQ(grid_index(-1e18f), 0u);
    EXPECT_EQ(grid_index(std::numeric_limits<float>::infinity()), last);
}

}  // namespace
}  // namespace kasane::gravity
