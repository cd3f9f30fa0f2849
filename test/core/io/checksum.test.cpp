// Checksums of files: every changed byte changes the sum, by pieces as at once.
#include <kasane/core/io/checksum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace {

using namespace kasane;

std::uint64_t by_pieces(const std::vector<std::uint8_t>& bytes) {
    io::Checksum sum;
    sum.add_in_parts(bytes);
    return sum.value();
}

constexpr std::size_t piece = 1 << 20;

// At the ends of pieces, which are 1 MiB long, and of the last one, which is shorter.
TEST(Checksums, ByPiecesNoticeEveryChangedByte) {
    std::vector<std::uint8_t> bytes(5 * piece / 2);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{7});
    std::set<std::uint64_t> sums{by_pieces(bytes)};
    const std::vector<std::size_t> places{0, 1, piece - 1, piece, 2 * piece - 1, 2 * piece, bytes.size() - 1};
    for (const auto at : places) {
        ++bytes[at];
        sums.insert(by_pieces(bytes));
        --bytes[at];
    }
    bytes.pop_back();
    sums.insert(by_pieces(bytes));
    EXPECT_EQ(sums.size(), places.size() + 2);
}

TEST(Checksums, ByPiecesNoticeTheOrderOfPieces) {
    std::vector<std::uint8_t> bytes(3 * piece, 1);
    bytes[piece + 5] = 2;
    const auto before = by_pieces(bytes);
    std::rotate(bytes.begin(), bytes.begin() + piece, bytes.end());
    EXPECT_NE(by_pieces(bytes), before);
}

TEST(Checksums, ByPiecesIsTheChecksumOfTheirChecksums) {
    const std::vector<std::uint8_t> first(piece, 3), second(10, 4);
    const auto of = [](const auto& values) {
        io::Checksum sum;
        sum.add(values);
        return sum.value();
    };
    std::vector<std::uint8_t> both = first;
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(by_pieces(both), of(std::vector<std::uint64_t>{of(first), of(second)}));
    EXPECT_EQ(by_pieces({}), of(std::vector<std::uint8_t>{}));
}

}  // namespace
