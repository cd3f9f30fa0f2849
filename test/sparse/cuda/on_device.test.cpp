// Facts that the device finds about a matrix in its own memory equal those of the host.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/order/on_device.hpp>

#include <sparse/box.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::sparse {
namespace {

class OnDevice : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

/// A matrix in a device's memory, with offsets and columns of the given widths.
template <class Offset, class Column>
struct There {
    Buffer<Offset, Cuda> begin;
    Buffer<Column, Cuda> column;
    Buffer<double, Cuda> value;
    index_t rows;
    explicit There(const CsrMatrix& A)
        : begin(to_space(Cuda{}, std::vector<Offset>(A.begin.begin(), A.begin.end()))),
          column(to_space(Cuda{}, std::vector<Column>(A.column.begin(), A.column.end()))),
          value(to_space(Cuda{}, A.value)),
          rows(A.rows()) {}
    CsrView view() const { return {rows, begin.data(), column.data(), value.data()}; }
};

using Edges = std::vector<std::pair<int, int>>;

/// Every edge couples by a negative number; the diagonal is the sum of their sizes and `extra`.
CsrMatrix graph(int rows, const Edges& edges, double extra) {
    std::vector<std::vector<std::pair<std::int32_t, double>>> row(static_cast<std::size_t>(rows));
    std::vector<char> seen(static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows), 0);
    for (const auto& [a, b] : edges) {
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b), place = i * static_cast<std::size_t>(rows) + j,
                   mirror = j * static_cast<std::size_t>(rows) + i;
        if (a == b || seen[place]) continue;
        seen[place] = seen[mirror] = 1;
        const double value = -1 - (a * 7 + b * 7) % 5;
        row[i].emplace_back(b, value);
        row[j].emplace_back(a, value);
    }
    CsrMatrix A;
    A.begin.push_back(0);
    for (std::size_t i = 0; i < row.size(); ++i) {
        double diagonal = extra;
        for (const auto& [column, value] : row[i]) diagonal -= value;
        row[i].emplace_back(static_cast<std::int32_t>(i), diagonal == 0 ? 1 : diagonal);
        std::sort(row[i].begin(), row[i].end());
        for (const auto& [column, value] : row[i]) A.column.push_back(column), A.value.push_back(value);
        A.begin.push_back(static_cast<index_t>(A.value.size()));
    }
    return A;
}

Edges bipartite(int left, int right, int count) {
    std::mt19937 random(3);
    Edges edges;
    for (int i = 0; i < count; ++i)
        edges.emplace_back(static_cast<int>(random() % static_cast<unsigned>(left)),
                           left + static_cast<int>(random() % static_cast<unsigned>(right)));
    return edges;
}
Edges star(int rows) {
    Edges edges;
    for (int i = 1; i < rows; ++i) edges.emplace_back(0, i);
    return edges;
}
Edges path(int first, int rows) {
    Edges edges;
    for (int i = 1; i < rows; ++i) edges.emplace_back(first + i - 1, first + i);
    return edges;
}
Edges both(Edges a, const Edges& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

void expect_same_order(const CsrMatrix& A) {
    const There<std::int32_t, std::int32_t> narrow(A);
    const There<std::int64_t, std::int64_t> wide(A);
    for (const int k : {1, 2, 3, 8, 100000}) {
        Ordering ordering;
        ordering.kind = OrderingKind::cm_rcm;
        ordering.colors = k;
        const auto want = order_rows(A.view(), ordering);
        for (const CsrView& view : {narrow.view(), wide.view()}) {
            std::string note;
            const auto got = cm_rcm_on_device(Cuda{}, view, k, note);
            ASSERT_TRUE(got.has_value());
            EXPECT_EQ(got->color_begin, want.color_begin);
            EXPECT_EQ(to_host(got->row), want.row);
            EXPECT_EQ(got->steps, 1);
            EXPECT_EQ(note, want.note);
        }
    }
}

TEST_F(OnDevice, OrdersBoxesAsTheHostDoes) {
    for (const BoxSize cells : {BoxSize{1, 1, 1}, {5, 1, 1}, {5, 7, 9}, {2, 40, 2}, {20, 20, 1}, {33, 31, 32}})
        expect_same_order(box_matrix(cells));
}

TEST_F(OnDevice, OrdersBipartiteGraphsAsTheHostDoes) {
    expect_same_order(graph(400, bipartite(150, 250, 900), 1));
    expect_same_order(graph(600, bipartite(200, 400, 300), 1));  // hundreds of components, single rows among them
    expect_same_order(graph(3000, star(3000), 1));
    expect_same_order(graph(1200, both(path(0, 500), path(600, 500)), 1));
    expect_same_order(graph(50, {}, 1));
}

TEST_F(OnDevice, LeavesOddCyclesAndEndlessLevelsToTheHost) {
    std::string note;
    for (const CsrMatrix& A :
         {graph(5, both(path(0, 5), {{0, 4}}), 1), graph(500, both(path(0, 499), {{3, 5}}), 1), box_matrix({20000, 1, 1})})
        EXPECT_FALSE(cm_rcm_on_device(Cuda{}, There<std::int32_t, std::int32_t>(A).view(), 2, note).has_value());
}

void expect_same_facts(const CsrMatrix& A) {
    const auto want = check(A.view());
    const There<std::int32_t, std::int64_t> mixed(A);
    const There<std::int64_t, std::int32_t> usual(A);
    for (const CsrView& view : {mixed.view(), usual.view()}) {
        const auto got = check_on_device(Cuda{}, view);
        EXPECT_EQ(got.rows, want.rows);
        EXPECT_EQ(got.nonzeros, want.nonzeros);
        EXPECT_EQ(got.longest_row, want.longest_row);
        EXPECT_EQ(got.sorted, want.sorted);
        EXPECT_EQ(got.duplicates, want.duplicates);
        EXPECT_EQ(got.components, want.components);
        EXPECT_EQ(got.singular, want.singular);
        EXPECT_EQ(got.component, want.component);
        EXPECT_EQ(check_on_device(Cuda{}, view, ComponentsOf::singular).components, want.singular ? want.components : 1);
    }
}

TEST_F(OnDevice, FindsTheFactsOfTheHost) {
    for (const double extra : {0., 1.}) {
        expect_same_facts(graph(400, bipartite(150, 250, 900), extra));
        expect_same_facts(graph(600, bipartite(200, 400, 300), extra));
        expect_same_facts(graph(3000, star(3000), extra));
        expect_same_facts(graph(1200, both(path(0, 500), path(500, 700)), extra));
        expect_same_facts(graph(1000, both(path(0, 500), path(500, 500)), extra));  // singular in two parts where nothing is added
    }
    expect_same_facts(box_matrix({33, 31, 32}));
    CsrMatrix unsorted = box_matrix({5, 7, 9});
    std::swap(unsorted.column[300], unsorted.column[301]);
    std::swap(unsorted.value[300], unsorted.value[301]);
    expect_same_facts(unsorted);
}

template <class Change>
void expect_same_words(const Change& change) {
    CsrMatrix A = box_matrix({5, 7, 9});
    change(A);
    std::string want, got;
    try {
        check(A.view());
    } catch (const InputError& error) {
        want = error.what();
    }
    try {
        check_on_device(Cuda{}, There<std::int64_t, std::int32_t>(A).view());
    } catch (const InputError& error) {
        got = error.what();
    }
    EXPECT_FALSE(want.empty());
    EXPECT_EQ(got, want);
}

TEST_F(OnDevice, ReportsTheProblemsOfTheHost) {
    expect_same_words([](CsrMatrix& A) { A.value[300] = std::nan(""); });
    expect_same_words([](CsrMatrix& A) { A.value[300] = HUGE_VAL; });
    expect_same_words([](CsrMatrix& A) { A.value[300] += 1e-3; });
    expect_same_words([](CsrMatrix& A) { A.column[301] = 999; });
    expect_same_words([](CsrMatrix& A) { A.column[301] = -5; });
    expect_same_words([](CsrMatrix& A) { A.column[301] = A.column[300]; });
    expect_same_words([](CsrMatrix& A) { A.column.back() = 0; });
    expect_same_words([](CsrMatrix& A) { A.begin[7] = 3; });
    expect_same_words([](CsrMatrix& A) { A.begin[0] = 1; });
    expect_same_words([](CsrMatrix& A) { A.begin = {0}; });
    expect_same_words([](CsrMatrix& A) { A.begin = {0, 0, 0}; });
    expect_same_words([](CsrMatrix& A) {
        for (auto& value : A.value) value = -value;
    });
    expect_same_words([](CsrMatrix& A) {
        for (index_t row = 0; row < A.rows(); ++row)
            for (auto e = A.begin[row]; e < A.begin[row + 1]; ++e)
                if (A.column[e] < row) A.value[e] = 0, A.column[e] = static_cast<std::int32_t>(row);
    });
}

// Columns of 64 bits that would be in range if they were truncated to 32.
TEST_F(OnDevice, DoesNotTruncateColumns) {
    const CsrMatrix A = box_matrix({3, 3, 3});
    std::vector<std::int64_t> column(A.column.begin(), A.column.end());
    column[5] += std::int64_t{1} << 32;
    const auto begin = to_space(Cuda{}, A.begin);
    const auto wide = to_space(Cuda{}, column);
    const auto value = to_space(Cuda{}, A.value);
    EXPECT_THROW(check_on_device(Cuda{}, CsrView(A.rows(), begin.data(), wide.data(), value.data())), InputError);
}

}  // namespace
}  // namespace kasane::sparse
#endif
