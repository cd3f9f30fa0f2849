// check() and canonical(): each problem named by row and column, the facts of valid matrices, and both index widths.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>

namespace {

using namespace kasane;
using namespace kasane::sparse;

struct Triplet {
    index_t row, column;
    double value;
};

/// Compressed rows with the entries in the given order.
CsrMatrix rows_of(index_t n, const std::vector<Triplet>& entries) {
    CsrMatrix A;
    A.begin = {0};
    for (index_t row = 0; row < n; ++row) {
        for (const auto& e : entries)
            if (e.row == row) A.column.push_back(static_cast<std::int32_t>(e.column)), A.value.push_back(e.value);
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    return A;
}

/// -1, 2, -1 along a chain of n.
CsrMatrix chain(index_t n) {
    std::vector<Triplet> entries;
    for (index_t i = 0; i < n; ++i) {
        if (i > 0) entries.push_back({i, i - 1, -1});
        entries.push_back({i, i, 2});
        if (i + 1 < n) entries.push_back({i, i + 1, -1});
    }
    return rows_of(n, entries);
}

/// The graph's Laplacian plus `shift`.
CsrMatrix laplacian(index_t n, const std::vector<std::pair<index_t, index_t>>& edges, double shift = 0) {
    std::map<std::pair<index_t, index_t>, double> places;
    for (index_t i = 0; i < n; ++i) places[{i, i}] = shift;
    for (const auto& [a, b] : edges) {
        places[{a, b}] -= 1, places[{b, a}] -= 1;
        places[{a, a}] += 1, places[{b, b}] += 1;
    }
    std::vector<Triplet> entries;
    for (const auto& [place, value] : places) entries.push_back({place.first, place.second, value});
    return rows_of(n, entries);
}

/// The messages of an error of check(), by line; empty if it does not throw.
std::string complaint(const CsrView& A) {
    try {
        check(A, "A.mtx");
    } catch (const InputError& error) {
        for (const auto& problem : error.problems()) EXPECT_EQ(problem.where.file, "A.mtx");
        return error.what();
    }
    return "";
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
    for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
}

TEST(Check, ReturnsTheFactsOfAValidMatrix) {
    const auto A = chain(5);
    const auto facts = check(A.view());
    EXPECT_EQ(facts.rows, 5);
    EXPECT_EQ(facts.nonzeros, 13);
    EXPECT_EQ(facts.longest_row, 3);
    EXPECT_TRUE(facts.sorted);
    EXPECT_EQ(facts.duplicates, 0);
    EXPECT_EQ(facts.components, 1);
    EXPECT_FALSE(facts.singular);
    EXPECT_TRUE(facts.component.empty());
}

TEST(Check, OneByOne) {
    const auto facts = check(rows_of(1, {{0, 0, 3}}).view());
    EXPECT_EQ(facts.rows, 1);
    EXPECT_FALSE(facts.singular);
    expect_words(complaint(rows_of(1, {}).view()), {"row 1 has no diagonal"});
}

TEST(Check, EveryIndexWidthIsRead) {
    auto A = chain(9);
    A.value[4] = -1.5;  // (2, 3)
    const std::vector<std::int32_t> begin32(A.begin.begin(), A.begin.end());
    const std::vector<std::int64_t> column64(A.column.begin(), A.column.end());
    for (const auto& view :
         {A.view(), CsrView(9, begin32.data(), A.column.data(), A.value.data()),
          CsrView(9, A.begin.data(), column64.data(), A.value.data()), CsrView(9, begin32.data(), column64.data(), A.value.data())})
        expect_words(complaint(view), {"(2, 3) = -1.5", "(3, 2) = -1", "differ"});
}

TEST(Check, EmptyAndTooLarge) {
    expect_words(complaint(CsrMatrix{}.view()), {"A.mtx", "no rows"});
    CsrView huge;
    huge.n = most_rows + 1;  // no element may be read
    expect_words(complaint(huge), {"2147483648 rows", "2147483647"});
    huge.n = 1;
    expect_words(complaint(huge), {"null"});
}

TEST(Check, OffsetsAreCheckedBeforeTheyAreFollowed) {
    auto A = chain(4);
    A.begin[2] = -1000000000000;
    expect_words(complaint(A.view()), {"offsets that fall", "row 2", "from 2 to -1000000000000"});
    A.begin[2] = 1000000000000;
    expect_words(complaint(A.view()), {"offsets that fall", "row 3", "to 8"});
    A = chain(4);
    A.begin[0] = 1;
    expect_words(complaint(A.view()), {"begin at 1"});
}

TEST(Check, ColumnsOutOfRange) {
    auto A = chain(4);
    A.column[3] = 4;
    A.column[7] = -1;
    expect_words(complaint(A.view()), {"row 2 has a column index 4", "first of 2", "0 to 3"});
    std::vector<std::int64_t> wide(A.column.begin(), A.column.end());
    wide[3] = std::numeric_limits<std::int64_t>::max();
    expect_words(complaint({4, A.begin.data(), wide.data(), A.value.data()}), {"row 2 has a column index 9223372036854775807"});
}

TEST(Check, ValuesThatAreNotFinite) {
    auto A = chain(4);
    A.value[3] = std::nan("");
    expect_words(complaint(A.view()), {"(2, 2) is nan", "finite"});
    A = chain(4);
    A.value[1] = A.value[2] = std::numeric_limits<double>::infinity();
    const auto text = complaint(A.view());
    expect_words(text, {"(1, 2) is inf", "first of 2"});
    EXPECT_EQ(text.find("differ"), std::string::npos) << "infinity has one message: " << text;
}

TEST(Check, DiagonalMissingZeroNegative) {
    expect_words(complaint(rows_of(3, {{0, 0, 1}, {1, 2, 1}, {2, 1, 1}, {2, 2, 1}}).view()), {"row 2 has no diagonal entry"});
    expect_words(complaint(rows_of(3, {{0, 0, 1}, {1, 1, 1}, {2, 2, 0}}).view()), {"diagonal entry of row 3 is 0"});
    expect_words(complaint(rows_of(3, {{0, 0, 1}, {1, 1, -2}, {2, 2, 1}}).view()), {"diagonal entry of row 2 is -2"});
    expect_words(complaint(rows_of(2, {{0, 0, -1}, {1, 1, -2}}).view()), {"row 1 is -1", "first of 2", "signs"});
    EXPECT_EQ(complaint(rows_of(1, {{0, 0, 3}, {0, 0, -1}}).view()), "") << "entries of one place are summed: 2";
    expect_words(complaint(rows_of(1, {{0, 0, 3}, {0, 0, -3}}).view()), {"row 1 is 0"});
    expect_words(complaint(rows_of(1, {{0, 0, 1e308}, {0, 0, 1e308}}).view()), {"(1, 1) is inf"});
}

TEST(Check, PatternThatIsNotSymmetric) {
    std::vector<Triplet> entries{{0, 0, 2}, {1, 1, 2}, {2, 2, 2}, {0, 1, -1}, {1, 0, -1}};
    auto upper = entries, lower = entries;
    upper.push_back({1, 2, -1});
    lower.push_back({2, 1, -1});
    expect_words(complaint(rows_of(3, upper).view()), {"(2, 3) = -1 has no partner (3, 2)"});
    expect_words(complaint(rows_of(3, lower).view()), {"(3, 2) = -1 has no partner (2, 3)"});
    // As many entries on both sides, and no two of them partners.
    expect_words(complaint(rows_of(4, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {0, 1, -1}, {3, 2, -1}}).view()),
                 {"(1, 2) = -1 has no partner (2, 1)", "first of 2"});
    expect_words(complaint(rows_of(3, {{0, 0, 1}, {1, 0, -1}, {1, 1, 1}, {2, 1, -1}, {2, 2, 1}}).view()),
                 {"lower triangle only", "(2, 1)", "symmetric"});
    expect_words(complaint(rows_of(2, {{0, 0, 1}, {0, 1, -1}, {1, 1, 1}}).view()), {"upper triangle only", "(1, 2)"});
}

TEST(Check, ValuesThatAreNotSymmetric) {
    const auto pair = [](double a, double b, double diagonal = 2) {
        return rows_of(2, {{0, 0, diagonal}, {0, 1, a}, {1, 0, b}, {1, 1, diagonal}});
    };
    expect_words(complaint(pair(-1, 1).view()), {"(1, 2) = -1 and (2, 1) = 1 differ"});
    expect_words(complaint(pair(-1, -1 - 2e-12).view()), {"differ"});
    EXPECT_EQ(complaint(pair(-1, -1 - 5e-13).view()), "");
    EXPECT_EQ(complaint(pair(1e-17, -2e-17).view()), "") << "sums that cancelled differ by the rounding of the diagonal's size";
    expect_words(complaint(pair(1e-17, -2e-17, 1e-10).view()), {"differ"});
    EXPECT_EQ(complaint(pair(-1e200, -1e200, 2e200).view()), "");
}

TEST(Check, AllKindsAtOnce) {
    auto A = chain(6);
    A.value[3] = std::nan("");  // (2, 2)
    A.value[6] = -2;            // (3, 3)
    A.value[7] = -3;            // (3, 4)
    A.column[10] = 5;           // (4, 5) is now a second (4, 6)
    try {
        check(A.view());
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problems().size(), 4u) << error.what();
        expect_words(error.what(), {"the matrix: ", "(2, 2) is nan", "row 3 is -2", "(4, 6)", "(3, 4) = -3"});
    }
}

TEST(Check, UnsortedRowsAreChecked) {
    const auto sorted = laplacian(6, {{0, 1}, {1, 2}, {2, 3}, {0, 5}, {4, 5}, {1, 4}}, 0.5);
    auto A = sorted;
    for (index_t row = 0; row < 6; ++row) {
        const auto first = A.begin[static_cast<std::size_t>(row)], last = A.begin[static_cast<std::size_t>(row) + 1];
        std::reverse(A.column.begin() + first, A.column.begin() + last);
        std::reverse(A.value.begin() + first, A.value.begin() + last);
    }
    const auto facts = check(A.view());
    EXPECT_FALSE(facts.sorted);
    EXPECT_EQ(facts.duplicates, 0);
    EXPECT_EQ(facts.components, 1);
    const auto again = canonical(A.view());
    EXPECT_EQ(again.begin, sorted.begin);
    EXPECT_EQ(again.column, sorted.column);
    EXPECT_EQ(again.value, sorted.value);
    A.value[0] += 1;
    expect_words(complaint(A.view()), {"differ"});
}

TEST(Check, DuplicatesAreCountedAndSummed) {
    // (1, 2) = -1 in one entry above, in halves below; the diagonal in three entries.
    for (const bool sorted : {true, false}) {
        const auto A = sorted ? rows_of(2, {{0, 0, 1}, {0, 0, 0.5}, {0, 0, 0.5}, {0, 1, -1}, {1, 0, -0.5}, {1, 0, -0.5}, {1, 1, 2}})
                              : rows_of(2, {{0, 1, -1}, {0, 0, 1}, {0, 0, 0.5}, {0, 0, 0.5}, {1, 0, -0.5}, {1, 1, 2}, {1, 0, -0.5}});
        const auto facts = check(A.view());
        EXPECT_EQ(facts.sorted, sorted);
        EXPECT_EQ(facts.duplicates, 3);
        EXPECT_EQ(facts.nonzeros, 7);
        const auto C = canonical(A.view());
        EXPECT_EQ(C.begin, (std::vector<index_t>{0, 2, 4}));
        EXPECT_EQ(C.column, (std::vector<std::int32_t>{0, 1, 0, 1}));
        EXPECT_EQ(C.value, (std::vector<double>{2, -1, -1, 2}));
    }
}

TEST(Check, IsSingularWhereAllRowsSumToZero) {
    const std::vector<std::pair<index_t, index_t>> path{{0, 1}, {1, 2}, {2, 3}};
    EXPECT_TRUE(check(laplacian(4, path).view()).singular);
    EXPECT_FALSE(check(laplacian(4, path, 1e-6).view()).singular);
    EXPECT_FALSE(check(rows_of(2, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}).view()).singular) << "(1, 1) is not in its null space";
    // Conductances that are no round numbers: the diagonal is their rounded sum.
    std::mt19937 random(7);
    std::uniform_real_distribution<double> conductance(1e-3, 1e3);
    std::vector<Triplet> entries;
    std::vector<double> diagonal(300, 0);
    for (index_t i = 0; i < 300; ++i)
        for (const index_t j : {i + 1, i + 17, i + 100})
            if (j < 300) {
                const double c = conductance(random);
                entries.push_back({i, j, -c}), entries.push_back({j, i, -c});
                diagonal[static_cast<std::size_t>(i)] += c, diagonal[static_cast<std::size_t>(j)] += c;
            }
    for (index_t i = 0; i < 300; ++i) entries.push_back({i, i, diagonal[static_cast<std::size_t>(i)]});
    const auto facts = check(rows_of(300, entries).view());
    EXPECT_FALSE(facts.sorted);
    EXPECT_TRUE(facts.singular);
    // A place whose entries are positive and negative counts by its sum.
    EXPECT_TRUE(check(rows_of(2, {{0, 0, 1}, {0, 1, 1}, {0, 1, -2}, {1, 0, -1}, {1, 1, 1}}).view()).singular);
}

TEST(Check, ComponentsAreCountedAndLabelledWhereSingular) {
    const std::vector<std::pair<index_t, index_t>> edges{{5, 1}, {1, 3}, {0, 6}, {2, 4}, {4, 7}};
    const auto facts = check(laplacian(8, edges).view());
    EXPECT_TRUE(facts.singular);
    EXPECT_EQ(facts.components, 3);
    EXPECT_EQ(facts.component, (std::vector<std::int32_t>{0, 1, 2, 1, 2, 1, 0, 2}));
    const auto regular = check(laplacian(8, edges, 1).view());
    EXPECT_EQ(regular.components, 3);
    EXPECT_TRUE(regular.component.empty());
}

/// A random forest in random numbering, against its own labels; large enough for several threads to meet.
TEST(Check, ComponentsOfAForestWithAnyNumberOfThreads) {
    constexpr index_t n = 30000, trees = 37;
    std::mt19937 random(3);
    std::vector<index_t> name(n), tree(n);
    for (index_t i = 0; i < n; ++i) name[static_cast<std::size_t>(i)] = i;
    std::shuffle(name.begin(), name.end(), random);
    std::vector<std::vector<index_t>> rows_of(trees);
    std::vector<std::vector<std::int32_t>> neighbours(n);
    for (index_t i = 0; i < n; ++i) {
        const auto t = i < trees ? i : static_cast<index_t>(random() % trees);
        auto& all = rows_of[static_cast<std::size_t>(t)];
        const auto me = name[static_cast<std::size_t>(i)];
        if (!all.empty()) {
            const auto other = all[random() % all.size()];
            neighbours[static_cast<std::size_t>(me)].push_back(static_cast<std::int32_t>(other));
            neighbours[static_cast<std::size_t>(other)].push_back(static_cast<std::int32_t>(me));
        }
        all.push_back(me);
        tree[static_cast<std::size_t>(me)] = t;
    }
    // A tree of one row has an empty Laplacian: all trees have hundreds.
    CsrMatrix A;
    A.begin = {0};
    for (index_t i = 0; i < n; ++i) {
        auto& row = neighbours[static_cast<std::size_t>(i)];
        const auto degree = static_cast<double>(row.size());
        row.push_back(static_cast<std::int32_t>(i));
        std::sort(row.begin(), row.end());
        for (const auto j : row) A.column.push_back(j), A.value.push_back(j == i ? degree : -1);
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    const int threads = omp_get_max_threads();
    for (const int count : {1, 4}) {
        omp_set_num_threads(count);
        const auto facts = check(A.view());
        ASSERT_EQ(facts.components, trees);
        ASSERT_EQ(facts.component.size(), static_cast<std::size_t>(n));
        std::map<index_t, std::int32_t> label;
        std::int32_t next = 0;
        for (std::size_t i = 0; i < n; ++i) {  // in the order of first rows
            const auto [place, is_new] = label.try_emplace(tree[i], next);
            next += is_new;
            ASSERT_EQ(facts.component[i], place->second) << i;
        }
    }
    omp_set_num_threads(threads);
}

TEST(Check, ARowOfThousandsOfEntries) {
    constexpr index_t n = 5000;
    constexpr index_t hub = 1234;
    CsrMatrix A;
    A.begin = {0};
    for (index_t i = 0; i < n; ++i) {
        const auto put = [&](index_t j, double v) { A.column.push_back(static_cast<std::int32_t>(j)), A.value.push_back(v); };
        if (i == hub) {
            for (index_t j = 0; j < n; ++j) put(j, j == i ? n : -1);
        } else {
            put(std::min(i, hub), i < hub ? 2 : -1);
            put(std::max(i, hub), i < hub ? -1 : 2);
        }
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    const auto facts = check(A.view());
    EXPECT_EQ(facts.longest_row, n);
    EXPECT_EQ(facts.components, 1);
    A.value[A.value.size() - 2] = -1.25;
    expect_words(complaint(A.view()), {"(1235, 5000) = -1 and (5000, 1235) = -1.25"});
}

}  // namespace
