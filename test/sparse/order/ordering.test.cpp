#include <kasane/core/base/error.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include "sparse/order/check_order.hpp"
#include "sparse/order/graphs.hpp"
#include "sparse/order/orderings.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kasane::sparse {
namespace {

ColoredOrder ordered(const CsrMatrix& A, const std::string& ordering) { return order_rows(A.view(), Ordering::parse(ordering)); }

/// Rows of each colour, in order.
std::vector<slow::Rows> sets(const ColoredOrder& order) {
    std::vector<slow::Rows> out;
    for (std::size_t c = 1; c < order.color_begin.size(); ++c)
        out.emplace_back(order.row.begin() + order.color_begin[c - 1], order.row.begin() + order.color_begin[c]);
    return out;
}

std::string refusal(const std::string& text) {
    try {
        Ordering::parse(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Ordering, TextIsParsedBack) {
    for (const std::string text :
         {"auto", "natural", "mc:1", "mc:20", "cm", "rcm", "cm-rcm:2", "cm-rcm:2147483647", "block:8:2", "block:512:300"})
        EXPECT_EQ(Ordering::parse(text).text(), text);
    EXPECT_EQ(Ordering::parse("block:32:4"), (Ordering{OrderingKind::block, 4, 32}));
    EXPECT_EQ(Ordering{}.text(), "auto");
}

TEST(Ordering, RefusalsNameTheNearestAndTheAllowed) {
    EXPECT_EQ(refusal("cm-rmc:4"),
              "\"cm-rmc:4\" is not an ordering: did you mean \"cm-rcm:K\"? the orderings are auto, natural, mc:K, cm, "
              "rcm, cm-rcm:K, block:B:K (K colours, blocks of B rows)");
    EXPECT_EQ(refusal("something"),
              "\"something\" is not an ordering: the orderings are auto, natural, mc:K, cm, rcm, cm-rcm:K, block:B:K "
              "(K colours, blocks of B rows)");
    EXPECT_EQ(refusal("cm-rcm"), "ordering \"cm-rcm\": cm-rcm is written cm-rcm:K, for instance \"cm-rcm:8\"");
    EXPECT_EQ(refusal("block:8"), "ordering \"block:8\": block is written block:B:K, for instance \"block:32:8\"");
    EXPECT_EQ(refusal("rcm:3"), "ordering \"rcm:3\": rcm is written rcm, for instance \"rcm\"");
    EXPECT_EQ(refusal("mc:0"), "ordering \"mc:0\": \"0\" is not a number of colours: a whole number from 1 to 2147483647 is needed");
    EXPECT_EQ(refusal("block:4097:2"),
              "ordering \"block:4097:2\": \"4097\" is not a number of rows of a block: a whole number from 1 to 4096 is needed");
    for (const std::string bad : {"", ":", "mc:", "mc:x", "mc:4x", "mc: 4", "mc:-1", "mc:+2", "mc:1e3", "mc:2147483648",
                                  "mc:99999999999999999999", "block::4", "block:8:", "block:8:2:1", "natural:", "MC:4", "mc:4 "})
        EXPECT_NE(refusal(bad), "") << "\"" << bad << "\" was taken";
}

TEST(Ordering, EveryOneIsValidOnEveryGraph) {
    for (const auto& [name, A] : hard_graphs())
        for (const std::string ordering :
             {"natural",   "mc:1",      "mc:2",      "mc:3",      "mc:8",       "mc:1000",     "cm",
              "rcm",       "cm-rcm:1",  "cm-rcm:2",  "cm-rcm:3",  "cm-rcm:8",   "cm-rcm:1000", "block:1:1",
              "block:2:2", "block:3:1", "block:8:2", "block:8:8", "block:20:3", "block:512:4", "block:4096:1000"}) {
            SCOPED_TRACE(name + ", " + ordering);
            check_order(A, ordered(A, ordering));
            if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(Ordering, ColorsAreThoseOfTheDefinitions) {
    for (const auto& [name, A] : hard_graphs()) {
        SCOPED_TRACE(name);
        EXPECT_EQ(sets(ordered(A, "natural")), slow::natural(A));
        const auto levels = slow::cuthill_mckee(A);
        EXPECT_EQ(sets(ordered(A, "cm")), levels);
        EXPECT_EQ(sets(ordered(A, "rcm")), slow::reversed(levels));
        for (const int k : {1, 2, 3, 5, 8, 30}) {
            SCOPED_TRACE(k);
            EXPECT_EQ(sets(ordered(A, "cm-rcm:" + std::to_string(k))), slow::cm_rcm(A, k));
            EXPECT_EQ(sets(ordered(A, "mc:" + std::to_string(k))), slow::multicolor(A, k));
        }
    }
}

TEST(Ordering, ColorOfABoxIsItsLevelModuloK) {
    const BoxSize n{9, 6, 7};
    const auto A = box_matrix(n);
    for (const int k : {2, 3, 4, 7, 15}) {
        const auto order = ordered(A, "cm-rcm:" + std::to_string(k));
        const auto color = colors_of_rows(A, order);
        ASSERT_EQ(order.colors(), k);
        EXPECT_EQ(order.note, "");
        std::size_t row = 0;
        for (index_t z = 0; z < n[2]; ++z)
            for (index_t y = 0; y < n[1]; ++y)
                for (index_t x = 0; x < n[0]; ++x, ++row) {
                    const auto level = n[0] + n[1] + n[2] - 3 - (x + y + z);  // of rcm: cm begins in cell (0, 0, 0), a corner
                    ASSERT_EQ(color[row], level % k) << "cell " << x << " " << y << " " << z;
                }
    }
    // The opposite corner comes last: 20 levels; with as many colours, the ordering is rcm itself.
    EXPECT_EQ(sets(ordered(A, "cm-rcm:20")), sets(ordered(A, "rcm")));
}

TEST(Ordering, NotesReportTheColorsTaken) {
    EXPECT_EQ(ordered(box_matrix({4, 4, 4}), "cm-rcm:3").note, "");
    EXPECT_EQ(ordered(box_matrix({4, 4, 4}), "cm-rcm:1").note, "cm-rcm:1 has conflicts: 2 colours were taken");
    EXPECT_EQ(ordered(box_matrix({4, 4, 4}), "cm-rcm:11").note, "cm-rcm:11 asks for more colours than the 10 levels: rcm was taken");
    EXPECT_EQ(ordered(box_matrix({4, 4, 4}), "cm-rcm:10").note, "");
    // Levels of a complete graph hold one row each, so that it needs as many colours as rows.
    EXPECT_EQ(ordered(complete(5), "cm-rcm:2").note, "cm-rcm:2 has conflicts: 5 colours were taken, which is rcm");
    // Rows 0 1 2 … of a strip of triangles are single levels, coupled over distances 1 and 2.
    EXPECT_EQ(ordered(strip(10), "cm-rcm:2").note, "cm-rcm:2 has conflicts: 3 colours were taken");
    EXPECT_EQ(ordered(complete(5), "mc:2").note, "mc:2 needs 5 colours: they were taken");
    EXPECT_EQ(ordered(box_matrix({2, 1, 1}), "mc:3").note, "mc:3 asks for more colours than the 2 rows");
    EXPECT_EQ(ordered(box_matrix({8, 8, 8}), "block:8:2").note, "");
    EXPECT_EQ(ordered(complete(8), "block:2:2").note, "block:2:2 has conflicts: 4 colours were taken");
    EXPECT_EQ(ordered(box_matrix({4, 4, 4}), "block:32:3").note, "block:32:3 has blocks for 2 colours only");
    for (const auto& text : {"natural", "cm", "rcm"}) EXPECT_EQ(ordered(complete(5), text).note, "");
}

TEST(Ordering, ComponentsShareLevels) {
    // 50 single rows are independent, and so are 50 chains of 3.
    EXPECT_EQ(ordered(matrix_of(50, {}), "cm").colors(), 1);
    Couplings chains;
    for (int i = 0; i < 150; ++i)
        if (i % 3 != 2) chains.emplace_back(i, i + 1);
    EXPECT_EQ(ordered(matrix_of(150, chains), "rcm").colors(), 3);
}

TEST(Ordering, BlocksOfABoxAreBoxes) {
    // 2 x 2 x 2 cells a block, as a chess board.
    const auto A = box_matrix({8, 8, 8});
    const auto order = ordered(A, "block:8:2");
    ASSERT_EQ(order.colors(), 2);
    ASSERT_EQ(order.steps, 8);
    ASSERT_EQ(order.row.size(), 512u);
    const auto color = colors_of_rows(A, order);
    for (std::size_t row = 0; row < 512; ++row) ASSERT_EQ(color[row], ((row / 2 % 4) + (row / 16 % 4) + (row / 128 % 4)) % 2) << row;
}

TEST(Ordering, BlocksAreMostlyFull) {
    // Two successive leftovers fill more than half a block: at most about half of the places are padding, on any graph.
    for (const auto& [name, A] : hard_graphs())
        for (const std::string ordering : {"block:2:2", "block:8:2", "block:20:3", "block:64:4"}) {
            const auto order = ordered(A, ordering);
            EXPECT_LE(static_cast<index_t>(order.row.size()), 2 * A.rows() + 2 * order.steps) << name << ", " << ordering;
        }
    // Meshes do better: sizes that are odd in each direction leave few cells over.
    EXPECT_LT(ordered(box_matrix({17, 15, 13}), "block:8:2").row.size(), 1.02 * 17 * 15 * 13);
    EXPECT_LT(ordered(box27(9, 11, 7), "block:16:4").row.size(), 1.1 * 9 * 11 * 7);
}

TEST(Ordering, ColorsOfBlocksAreBalanced) {
    const auto sizes = color_sizes(ordered(box_matrix({17, 15, 13}), "block:8:8"));
    const double mean = 17. * 15 * 13 / static_cast<double>(sizes.size());
    for (const auto size : sizes) EXPECT_NEAR(static_cast<double>(size), mean, 0.25 * mean);
}

TEST(Ordering, DependsOnThePatternAlone) {
    std::mt19937 random(3);
    for (const auto& [name, A] : hard_graphs()) {
        // The same entries shuffled inside their rows, some twice, in narrow offsets and wide columns, without values.
        std::vector<std::int32_t> begin{0};
        std::vector<std::int64_t> column;
        for (std::size_t i = 0; i + 1 < A.begin.size(); ++i) {
            const auto first = static_cast<std::ptrdiff_t>(column.size());
            for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e) {
                column.push_back(A.column[static_cast<std::size_t>(e)]);
                if (random() % 4 == 0) column.push_back(column.back());
            }
            std::shuffle(column.begin() + first, column.end(), random);
            begin.push_back(static_cast<std::int32_t>(column.size()));
        }
        const CsrView shuffled(A.rows(), begin.data(), column.data(), nullptr);
        for (const std::string ordering : {"natural", "mc:3", "cm", "rcm", "cm-rcm:3", "block:8:3"}) {
            const auto plain = ordered(A, ordering), other = order_rows(shuffled, Ordering::parse(ordering));
            EXPECT_EQ(plain.row, other.row) << name << ", " << ordering;
            EXPECT_EQ(plain.color_begin, other.color_begin) << name << ", " << ordering;
        }
    }
}

TEST(Ordering, TakesLargeGraphsOfExtremeShape) {
    // 0.3 to 2 million entries each, where one step per (row, colour), (level, row) or (row of a hub, neighbour) would be above 1e9, so
    // that a quadratic ordering would show: at most 0.1 s each now.
    std::vector<NamedMatrix> graphs;
    graphs.push_back({"box", box_matrix({64, 64, 64})});
    graphs.push_back({"chain", chain(100'000)});
    graphs.push_back({"star", star(100'000, 99'999)});
    graphs.push_back({"complete", complete(1'000)});
    graphs.push_back({"pairs", [] {
                          Couplings pairs;
                          for (int i = 0; i < 200'000; i += 2) pairs.emplace_back(i, i + 1);
                          return matrix_of(200'000, pairs);
                      }()});
    for (const auto& [name, A] : graphs)
        for (const std::string ordering : {"natural", "mc:8", "mc:50000", "cm", "rcm", "cm-rcm:2", "cm-rcm:8", "cm-rcm:50000", "block:8:4",
                                           "block:512:4", "block:2:50000"}) {
            index_t rows = 0;
            for (const index_t size : color_sizes(ordered(A, ordering))) {
                EXPECT_GT(size, 0) << name << ", " << ordering;
                rows += size;
            }
            EXPECT_EQ(rows, A.rows()) << name << ", " << ordering;
        }
}

}  // namespace
}  // namespace kasane::sparse
