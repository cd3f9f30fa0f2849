// Aggregates of rows: all rows, about the size asked for, each one connected.
#include <test/sparse/box.hpp>
#include <test/sparse/general_systems.hpp>

#include <kasane/sparse/distributed/aggregates_of_rows.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace {

using namespace kasane;
using namespace kasane::sparse;

std::size_t index_of(index_t i) { return static_cast<std::size_t>(i); }

/// Rows that a search from the first row of an aggregate reaches without leaving it.
std::size_t reached_inside(const CsrMatrix& A, const RowAggregates& aggregates, std::int32_t first) {
    std::set<std::int32_t> seen{first};
    std::vector<std::int32_t> open{first};
    while (!open.empty()) {
        const auto row = open.back();
        open.pop_back();
        for (auto e = A.begin[index_of(row)]; e < A.begin[index_of(row) + 1]; ++e) {
            const auto other = A.column[index_of(e)];
            if (aggregates.of[index_of(other)] == aggregates.of[index_of(first)] && seen.insert(other).second) open.push_back(other);
        }
    }
    return seen.size();
}

TEST(RowAggregatesOfAMatrix, AreConnectedAndOfOneSize) {
    for (const auto& A : {box_matrix({12, 10, 14}), box_matrix({1, 1, 50}), test::random_general(300, 6, 4, 3)})
        for (const index_t most : {1, 2, 7, 30}) {
            const auto aggregates = aggregates_of_rows(A.view(), most);
            std::map<std::int32_t, std::vector<std::int32_t>> rows;
            ASSERT_EQ(aggregates.of.size(), index_of(A.rows()));
            for (std::int32_t row = 0; row < A.rows(); ++row) rows[aggregates.of[index_of(row)]].push_back(row);
            EXPECT_EQ(static_cast<index_t>(rows.size()), aggregates.count);
            EXPECT_EQ(rows.begin()->first, 0);
            EXPECT_EQ(rows.rbegin()->first, aggregates.count - 1);
            EXPECT_LE(aggregates.count, 4 * most);
            const double size = static_cast<double>(A.rows()) / static_cast<double>(most);
            for (const auto& [aggregate, own] : rows) EXPECT_LE(static_cast<double>(own.size()), 2 * size + 2) << aggregate;
        }
}

TEST(RowAggregatesOfAMatrix, ABoxHasConnectedAggregates) {
    const auto A = box_matrix({12, 10, 14});
    const auto aggregates = aggregates_of_rows(A.view(), 20);
    std::map<std::int32_t, std::size_t> size;
    std::map<std::int32_t, std::int32_t> first;
    for (std::int32_t row = 0; row < A.rows(); ++row)
        ++size[aggregates.of[index_of(row)]], first.try_emplace(aggregates.of[index_of(row)], row);
    for (const auto& [aggregate, rows] : size) EXPECT_EQ(reached_inside(A, aggregates, first[aggregate]), rows) << aggregate;
}

TEST(RowAggregatesOfAMatrix, RowsWithoutCouplingsAreTheirOwn) {
    CsrMatrix A;
    A.begin.push_back(0);
    for (int i = 0; i < 5; ++i) A.column.push_back(i), A.value.push_back(2), A.begin.push_back(i + 1);
    EXPECT_EQ(aggregates_of_rows(A.view(), 2).count, 5);
}

}  // namespace
