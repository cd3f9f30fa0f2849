// Samples of rows and what the rules between preconditioners learn from them, against the whole matrix.
#include <kasane/sparse/condition.hpp>
#include <kasane/sparse/matrix/samples.hpp>

#include <gtest/gtest.h>
#include <test/sparse/box.hpp>
#include <test/sparse/general_systems.hpp>
#include <test/sparse/order/graphs.hpp>

#include <cmath>
#include <numbers>
#include <set>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

TEST(MatrixSamples, SmallMatricesAreTakenWhole) {
    const auto sampled = sampled_rows(3840);
    ASSERT_EQ(sampled.size(), 1u);
    EXPECT_EQ(sampled[0].first, 0);
    EXPECT_EQ(sampled[0].end, 3840);
}

/// Ranges of larger ones are distinct, whole blocks of 2 to 6 rows, and spread over all rows.
TEST(MatrixSamples, LargeOnesInDistinctRanges) {
    for (const index_t rows : {3841, 4000, 50'653, 2'097'152}) {
        const auto sampled = sampled_rows(rows);
        ASSERT_EQ(sampled.size(), 64u);
        std::set<index_t> begins;
        for (const auto [first, end] : sampled) {
            EXPECT_EQ(first % 60, 0);
            EXPECT_EQ(end - first, 60);
            EXPECT_LE(end, rows);
            begins.insert(first);
        }
        EXPECT_EQ(begins.size(), 64u) << rows;
        EXPECT_LE(*begins.begin(), rows / 32);
        EXPECT_GE(*begins.rbegin(), rows - rows / 32 - 120);
    }
}

/// A large matrix has the facts that its construction gives it.
TEST(MatrixSamples, HaveTheFactsOfTheMatrix) {
    auto A = box_matrix({30, 40, 50});
    for (std::size_t row = 0; row < static_cast<std::size_t>(A.rows()); ++row)
        for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e) {
            const auto distance = std::abs(A.column[e] - static_cast<index_t>(row));
            A.value[e] = distance == 0 ? 40 : distance == 1 ? -15 : distance == 30 ? 1 : -2;
        }
    const auto sums = row_sum_facts(A.view());
    EXPECT_NEAR(sums.median_slack, 0.1, 1e-12);        // 40 - 2 (15 + 1 + 2) inside
    EXPECT_NEAR(sums.positive_share, 1. / 18, 0.005);  // less on the sides of the box
    EXPECT_NEAR(share_of_one_distance(A.view()), 15. / 18, 0.01);
    EXPECT_FALSE(is_rough(A.view()));
    for (index_t row = 0; row < A.rows(); ++row)
        for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] == row) A.value[static_cast<std::size_t>(e)] = row % 2 ? 40 : 100;
    EXPECT_TRUE(is_rough(A.view()));
    EXPECT_EQ(share_of_one_distance(random_graph(5000, 15000, 3).view()), 0);
}

TEST(MatrixSamples, RowsOfGridsAreShifted) {
    EXPECT_EQ(share_of_shifted_rows(box_matrix({10, 8, 6}).view()), 7 * 48 / 479.);
    EXPECT_EQ(share_of_shifted_rows(random_graph(300, 900, 3).view()), 0);
}

/// The neighbourhood of a line is its middle part, whose eigenvalues are known.
TEST(MatrixSamples, NeighbourhoodIsAPartOfTheMatrix) {
    auto line = box_matrix({1, 1, 1001});
    for (auto& value : line.value) value *= 3;
    const auto near = middle_neighbourhood(line.view(), 5);
    EXPECT_TRUE(near.two_colours);
    ASSERT_EQ(near.scaled.rows(), 5);
    EXPECT_EQ(near.scaled.nonzeros(), 5 + 2 * 4);
    double diagonal = 0, others = 0;
    for (std::size_t row = 0; row < 5; ++row)
        for (auto e = static_cast<std::size_t>(near.scaled.begin[row]); e < static_cast<std::size_t>(near.scaled.begin[row + 1]); ++e)
            (near.scaled.column[e] == static_cast<std::int32_t>(row) ? diagonal : others) += near.scaled.value[e];
    EXPECT_NEAR(diagonal, 5, 1e-14);
    EXPECT_NEAR(others, -0.5 * 8, 1e-14);
    const double cosine = std::cos(std::numbers::pi / 6);  // eigenvalues 1 - cos(k pi / 6)
    EXPECT_NEAR(least_condition(near.scaled, 1e9), (1 + cosine) / (1 - cosine), 1e-9);
    EXPECT_GT(least_condition(near.scaled, 2), 2);
}

/// Rows beyond a component are taken from the next one, and never twice.
TEST(MatrixSamples, NeighbourhoodOfSeveralComponents) {
    Entries pairs{100, {}};
    for (index_t i = 0; i < 100; ++i) {
        pairs.at[{i, i}] = 2;
        pairs.at[{i, i ^ 1}] = -1;
    }
    const auto near = middle_neighbourhood(pairs.matrix().view(), 30);
    EXPECT_EQ(near.scaled.rows(), 30);
    EXPECT_EQ(near.scaled.nonzeros(), 60);
    EXPECT_NEAR(least_condition(near.scaled, 1e9), 3, 1e-9);
}

TEST(MatrixSamples, NeighbourhoodSeesOddCycles) {
    Entries ring{9, {}};
    for (index_t i = 0; i < 9; ++i) {
        ring.at[{i, i}] = 3;
        ring.at[{i, (i + 1) % 9}] = ring.at[{(i + 1) % 9, i}] = -1;
    }
    EXPECT_FALSE(middle_neighbourhood(ring.matrix().view(), 9).two_colours);
    EXPECT_TRUE(middle_neighbourhood(ring.matrix().view(), 5).two_colours);
    EXPECT_TRUE(middle_neighbourhood(box_matrix({4, 5, 6}).view(), 120).two_colours);
}

}  // namespace
