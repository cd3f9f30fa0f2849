// The division of a matrix among workers against the matrix itself: owners, messages, products and subdomains.
#include <kasane/sparse/distributed/row_division.hpp>

#include <gtest/gtest.h>
#include <test/sparse/box.hpp>
#include <test/sparse/general_systems.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

/// The box with its rows in random order.
CsrMatrix shuffled_box(BoxSize n) {
    const auto box = box_matrix(n);
    std::vector<std::int32_t> row(at(box.rows())), number(row.size());
    std::iota(row.begin(), row.end(), 0);
    std::mt19937 random(5);
    std::ranges::shuffle(row, random);
    for (std::size_t k = 0; k < row.size(); ++k) number[at(row[k])] = static_cast<std::int32_t>(k);
    CsrMatrix A;
    A.begin.push_back(0);
    for (const auto old : row) {
        for (auto e = box.begin[at(old)]; e < box.begin[at(old) + 1]; ++e) {
            A.column.push_back(number[at(box.column[at(e)])]);
            A.value.push_back(box.value[at(e)]);
        }
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    return canonical(A.view());
}

/// What each worker receives in an exchange of numbers that are those of A's rows.
std::vector<std::vector<std::int32_t>> received_rows(const std::vector<RowPart>& parts, RowExchange RowPart::* which) {
    const int workers = static_cast<int>(parts.size());
    std::vector<std::vector<std::int32_t>> received(parts.size());
    for (int w = 0; w < workers; ++w) {
        const auto& mine = parts[at(w)].*which;
        for (std::size_t k = 0; k < mine.distance.size(); ++k) {
            const auto& from = parts[at((w - mine.distance[k] + workers) % workers)];
            const auto& theirs = from.*which;
            EXPECT_EQ(theirs.distance, mine.distance);
            EXPECT_EQ(theirs.send_begin[k + 1] - theirs.send_begin[k], mine.receive_begin[k + 1] - mine.receive_begin[k]);
            for (auto s = theirs.send_begin[k]; s < theirs.send_begin[k + 1]; ++s)
                received[at(w)].push_back(from.row[at(theirs.sent[at(s)])]);
        }
        EXPECT_EQ(mine.received(), static_cast<index_t>(received[at(w)].size()));
    }
    return received;
}

/// Rows that at most `layers` couplings lead to, these included.
std::set<std::int32_t> within(const CsrMatrix& A, const std::vector<std::int32_t>& rows, int layers) {
    std::set<std::int32_t> all(rows.begin(), rows.end());
    for (int layer = 0; layer < layers; ++layer) {
        const auto before = all;
        for (const auto row : before)
            for (auto e = A.begin[at(row)]; e < A.begin[at(row) + 1]; ++e) all.insert(A.column[at(e)]);
    }
    return all;
}

TEST(RowDivision, PartsHaveTheProductOfTheWholeMatrix) {
    const CsrMatrix matrices[] = {box_matrix({5, 4, 6}), shuffled_box({6, 5, 4}), random_general(60, 4, 3, 2), convection(9, 0.1, 1, 2)};
    const bool symmetric[] = {true, true, false, false};
    for (std::size_t m = 0; m < 4; ++m)
        for (const int workers : {1, 2, 3, 5, 8}) {
            const auto& A = matrices[m];
            const auto x = waves(A.rows()), y = product(A, x);
            const auto parts = divide_rows(A.view(), owners_of_rows(A.view(), workers, symmetric[m]), 0);
            const auto received = received_rows(parts, &RowPart::neighbors);
            std::vector<int> owned(x.size(), 0);
            for (std::size_t w = 0; w < parts.size(); ++w) {
                const auto& part = parts[w];
                std::vector<double> sum(part.row.size(), 0.);
                for (index_t i = 0; i < part.own(); ++i)
                    for (auto e = part.inner.begin[at(i)]; e < part.inner.begin[at(i) + 1]; ++e)
                        sum[at(i)] += part.inner.value[at(e)] * x[at(part.row[at(part.inner.column[at(e)])])];
                for (index_t k = 0; k < part.outer.rows(); ++k)
                    for (auto e = part.outer.begin[at(k)]; e < part.outer.begin[at(k) + 1]; ++e)
                        sum[at(part.outer_row[at(k)])] += part.outer.value[at(e)] * x[at(received[w][at(part.outer.column[at(e)])])];
                for (std::size_t i = 0; i < sum.size(); ++i) {
                    ++owned[at(part.row[i])];
                    EXPECT_NEAR(sum[i], y[at(part.row[i])], 1e-13);
                }
                EXPECT_EQ(part.extended.rows(), 0);
            }
            EXPECT_TRUE(std::ranges::all_of(owned, [](int times) { return times == 1; }));
        }
}

TEST(RowDivision, SubdomainsReachAsManyCouplingsAsTheyHaveLayers) {
    for (const auto& A : {shuffled_box({6, 4, 5}), random_general(80, 2, 3, 7)})
        for (const int layers : {1, 2, 3}) {
            const auto parts = divide_rows(A.view(), owners_of_rows(A.view(), 4, false), layers);
            const auto received = received_rows(parts, &RowPart::overlap);
            for (std::size_t w = 0; w < parts.size(); ++w) {
                auto rows = parts[w].row;
                rows.insert(rows.end(), received[w].begin(), received[w].end());
                const std::set<std::int32_t> all(rows.begin(), rows.end());
                EXPECT_EQ(all, within(A, parts[w].row, layers));
                ASSERT_EQ(parts[w].extended.rows(), static_cast<index_t>(rows.size()));
                index_t entries = 0;
                for (const auto row : rows)
                    for (auto e = A.begin[at(row)]; e < A.begin[at(row) + 1]; ++e) entries += all.contains(A.column[at(e)]);
                EXPECT_EQ(parts[w].extended.nonzeros(), entries);
                const auto x = waves(A.rows());
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    double sum = 0, expected = 0;
                    for (auto e = parts[w].extended.begin[i]; e < parts[w].extended.begin[i + 1]; ++e)
                        sum += parts[w].extended.value[at(e)] * x[at(rows[at(parts[w].extended.column[at(e)])])];
                    for (auto e = A.begin[at(rows[i])]; e < A.begin[at(rows[i]) + 1]; ++e)
                        if (all.contains(A.column[at(e)])) expected += A.value[at(e)] * x[at(A.column[at(e)])];
                    EXPECT_NEAR(sum, expected, 1e-13);
                }
            }
        }
}

TEST(RowDivision, TakesTheOrderThatCutsFewerEntries) {
    const auto box = box_matrix({8, 8, 32}), shuffled = shuffled_box({8, 8, 32});
    const auto natural = owners_of_rows(box.view(), 4, true), rcm = owners_of_rows(shuffled.view(), 4, true);
    EXPECT_EQ(natural.ordering, "natural");
    // Three cuts of 64 cells, two entries each.
    EXPECT_NEAR(natural.cut, 3 * 64 * 2. / static_cast<double>(box.nonzeros()), 2e-3);  // cuts within a plane of cells
    EXPECT_EQ(rcm.ordering, "rcm");
    EXPECT_LT(rcm.cut, 0.1);
    EXPECT_GT(owners_of_rows(shuffled.view(), 4, false).cut, 0.5);
}

TEST(RowDivision, WorkersHaveAboutAsManyEntries) {
    const auto A = box_matrix({10, 10, 10});
    for (const int workers : {2, 3, 7, 8}) {
        const auto owners = owners_of_rows(A.view(), workers, true);
        ASSERT_EQ(owners.workers(), workers);
        for (int w = 0; w < workers; ++w)
            EXPECT_NEAR(static_cast<double>(owners.begin[at(w) + 1] - owners.begin[at(w)]), 1000. / workers, 20);
    }
    // As many workers as rows: one each.
    const auto owners = owners_of_rows(box_matrix({2, 2, 2}).view(), 8, true);
    for (index_t w = 0; w <= 8; ++w) EXPECT_EQ(owners.begin[at(w)], w);
}

}  // namespace
