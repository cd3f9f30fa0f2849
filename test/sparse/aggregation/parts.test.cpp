// The parts of the set-up of multigrid by aggregation, against their definitions in double precision on small matrices.
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/aggregation/aggregates.hpp>
#include <kasane/sparse/aggregation/dense_inverse.hpp>
#include <kasane/sparse/aggregation/largest_eigenvalue.hpp>
#include <kasane/sparse/aggregation/smoothers.hpp>
#include <kasane/sparse/aggregation/strength.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>

#include "sparse/box.hpp"
#include "sparse/order/graphs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <set>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<AnySpace> set_up_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

using Dense = std::vector<std::vector<double>>;

Dense zeros(std::size_t rows, std::size_t columns) { return Dense(rows, std::vector<double>(columns, 0.)); }

Dense times(const Dense& A, const Dense& B) {
    auto C = zeros(A.size(), B.empty() ? 0 : B[0].size());
    for (std::size_t i = 0; i < A.size(); ++i)
        for (std::size_t k = 0; k < B.size(); ++k)
            for (std::size_t j = 0; j < B[k].size(); ++j) C[i][j] += A[i][k] * B[k][j];
    return C;
}

Dense flipped(const Dense& A, std::size_t columns) {
    auto T = zeros(columns, A.size());
    for (std::size_t i = 0; i < A.size(); ++i)
        for (std::size_t j = 0; j < columns; ++j) T[j][i] = A[i][j];
    return T;
}

template <class V, Space S>
Dense dense(const Rows<V, S>& A) {
    auto D = zeros(static_cast<std::size_t>(A.rows), static_cast<std::size_t>(A.columns));
    const auto begin = to_host(A.begin);
    const auto column = to_host(A.column);
    const auto value = to_host(A.value);
    for (std::size_t i = 0; i < D.size(); ++i)
        for (auto e = begin[i]; e < begin[i + 1]; ++e) D[i][static_cast<std::size_t>(column[e])] += static_cast<double>(value[e]);
    return D;
}

template <Space S>
Rows<double, S> sparse_of(S on, const Dense& D, index_t columns) {
    Rows<double, S> A;
    std::vector<std::uint32_t> begin{0};
    std::vector<std::int32_t> column;
    std::vector<double> value;
    for (const auto& row : D) {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (row[j] != 0) column.push_back(static_cast<std::int32_t>(j)), value.push_back(row[j]);
        begin.push_back(static_cast<std::uint32_t>(column.size()));
    }
    A.rows = static_cast<index_t>(D.size()), A.columns = columns;
    A.begin = to_space(on, begin), A.column = to_space(on, column), A.value = to_space(on, value);
    return A;
}

Dense random_dense(std::size_t rows, std::size_t columns, double filled, std::uint64_t seed) {
    auto D = zeros(rows, columns);
    RandomStream random(seed, 0);
    for (auto& row : D)
        for (auto& value : row)
            if (random.uniform() < filled) value = random.uniform() - 0.5;
    return D;
}

void expect_near(const Dense& got, const Dense& wanted, double tolerance) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        for (std::size_t j = 0; j < wanted[i].size(); ++j) ASSERT_NEAR(got[i][j], wanted[i][j], tolerance) << i << ", " << j;
}

/// A scaled to a diagonal of 1.
Dense scaled(const CsrMatrix& A) {
    auto D = zeros(static_cast<std::size_t>(A.rows()), static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < D.size(); ++i)
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            D[i][static_cast<std::size_t>(A.column[e])] = A.value[e];
    std::vector<double> root;
    for (std::size_t i = 0; i < D.size(); ++i) root.push_back(std::sqrt(D[i][i]));
    for (std::size_t i = 0; i < D.size(); ++i)
        for (std::size_t j = 0; j < D.size(); ++j) D[i][j] /= root[i] * root[j];
    return D;
}

/// Products of a rectangle, of empty rows, of a full row and column.
TEST(AggregationParts, ProductAndTransposeAreThoseOfDenseMatrices) {
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                for (const auto& [rows, inner, columns, filled] :
                     {std::tuple{1u, 1u, 1u, 1.}, {40u, 70u, 30u, 0.1}, {200u, 50u, 300u, 0.02}, {5u, 400u, 5u, 0.9}, {90u, 3u, 80u, 0.}}) {
                    auto A = random_dense(rows, inner, filled, 1), B = random_dense(inner, columns, filled, 2);
                    for (auto& value : A[rows / 2]) value = 1.5;
                    for (auto& row : A) row[inner / 2] = -2.5;
                    const auto a = sparse_of(on, A, inner), b = sparse_of(on, B, columns);
                    expect_near(dense(product(on, a.view(), b.view())), times(A, B), 1e-13 * inner);
                    expect_near(dense(transposed(on, a.view())), flipped(A, inner), 0);
                    const auto t = to_host(transposed(on, a.view()).column);
                    const auto begin = to_host(transposed(on, a.view()).begin);
                    for (std::size_t row = 0; row < inner; ++row)
                        for (auto e = begin[row] + 1; e < begin[row + 1]; ++e) ASSERT_LT(t[e - 1], t[e]);
                }
            },
            space);
}

/// Rows of a few, of hundreds and of thousands of entries, beside each other: every size of table, with collisions. The order of columns
/// and the sums, whose terms are added in the order of the entries, are those of the CPU.
TEST(AggregationParts, RowsOfProductsOfAnyLengthAreThoseOfTheCpu) {
    auto A = random_dense(300, 60, 0.05, 3), B = random_dense(60, 4000, 0.001, 4);
    for (std::size_t row = 0; row < 60; row += 7) B[row] = random_dense(1, 4000, row == 14 ? 0.6 : 0.03, 5).front();
    A[17] = random_dense(1, 60, 0.9, 6).front();
    const auto a = sparse_of(Cpu{}, A, 60), b = sparse_of(Cpu{}, B, 4000);
    const auto expected = product(Cpu{}, a.view(), b.view());
    std::uint32_t shortest = ~0u, longest = 0;
    for (index_t row = 0; row < expected.rows; ++row) {
        const auto entries = expected.begin.data()[row + 1] - expected.begin.data()[row];
        shortest = std::min(shortest, entries), longest = std::max(longest, entries);
    }
    ASSERT_LT(shortest, 48u);
    ASSERT_GT(longest, 1600u);
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const auto C = product(on, sparse_of(on, A, 60).view(), sparse_of(on, B, 4000).view());
                EXPECT_EQ(to_host(C.begin), to_host(expected.begin));
                EXPECT_EQ(to_host(C.column), to_host(expected.column));
                expect_near(dense(C), dense(expected), 1e-14 * 60);
            },
            space);
}

TEST(AggregationParts, TripleProductHasTheBitsOfTwoProducts) {
    const auto narrow = []<Space S>(S on, const Rows<double, S>& from) {
        const auto begin = to_host(from.begin);
        const auto column = to_host(from.column);
        const auto value = to_host(from.value);
        Rows<float, S> to;
        to.rows = from.rows, to.columns = from.columns;
        to.begin = to_space(on, begin), to.column = to_space(on, column);
        to.value = to_space(on, std::vector<float>(value.begin(), value.end()));
        return to;
    };
    // Few and many rows for the parts of threads; products that have more entries than memory was taken for.
    for (const auto& [rows, inner, columns] : {std::array{3u, 5u, 4u}, std::array{700u, 300u, 60u}, std::array{40u, 90u, 3000u}}) {
        const Dense A = random_dense(rows, inner, 0.2, 7), B = random_dense(inner, inner, 0.05, 8),
                    C = random_dense(inner, columns, 0.5, 9);
        for (const AnySpace& space : set_up_spaces())
            std::visit(
                [&](auto on) {
                    const auto a = narrow(on, sparse_of(on, A, inner)), b = narrow(on, sparse_of(on, B, inner)),
                               c = narrow(on, sparse_of(on, C, columns));
                    const auto D = triple_product(on, a.view(), b.view(), c.view());
                    expect_near(dense(D), times(dense(a), times(dense(b), dense(c))), 1e-4);
                    const auto E = product(on, a.view(), product(on, b.view(), c.view()).view());
                    EXPECT_EQ(to_host(D.begin), to_host(E.begin));
                    EXPECT_EQ(to_host(D.column), to_host(E.column));
                    EXPECT_EQ(to_host(D.value), to_host(E.value));
                },
                space);
    }
}

TEST(AggregationParts, CoarseMatrixIsPTransposedAP) {
    const auto A = scaled(box_matrix({7, 6, 5}));
    std::vector<double> b(A.size());
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.3 * std::sin(static_cast<double>(i));
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const auto a = sparse_of(on, A, 210);
                const auto near_null = to_space(on, b);
                const auto own_smoother = filtered_smoother(on, a.view(), near_null.view(), 0.1, 2.);
                const auto& smoother = own_smoother.view;
                const auto aggregates = aggregated(on, a.view(), strong_entries(on, a.view(), {}).view());
                const auto tentative = tentative_prolongator<double>(on, aggregates, near_null.view(), 1, 1);
                const auto P = product(on, smoother, tentative.P.view());
                const auto coarse = product(on, transposed(on, P.view()).view(), product(on, a.view(), P.view()).view());
                const auto p = dense(P);
                expect_near(dense(coarse), times(flipped(p, p[0].size()), times(A, p)), 1e-13);
                const auto coarse_null = to_host(tentative.coarse_null);
                const auto p0 = dense(tentative.P);
                for (std::size_t i = 0; i < b.size(); ++i) {
                    double sum = 0;
                    for (std::size_t j = 0; j < coarse_null.size(); ++j) sum += p0[i][j] * coarse_null[j];
                    EXPECT_NEAR(sum, b[i], 1e-14);
                }
            },
            space);
}

/// Where A b = 0, the smoothed prolongator still reproduces b, whatever was filtered.
TEST(AggregationParts, SmoothedProlongatorKeepsTheNullVector) {
    const std::size_t n = 300;
    auto A = zeros(n, n);
    RandomStream random(9, 0);
    for (std::size_t i = 0; i < n; ++i)
        for (const std::size_t j : {(i + 1) % n, (i + 17) % n}) {
            const double g = std::exp(6 * random.uniform());
            A[i][j] -= g, A[j][i] -= g, A[i][i] += g, A[j][j] += g;
        }
    std::vector<double> b(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = std::sqrt(A[i][i]);
    auto S_ = A;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) S_[i][j] /= b[i] * b[j];
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const auto a = sparse_of(on, S_, static_cast<index_t>(n));
                const auto near_null = to_space(on, b);
                const auto own_smoother = filtered_smoother(on, a.view(), near_null.view(), 0.1, 2.);
                const auto& smoother = own_smoother.view;
                auto one = zeros(n, n);
                for (std::size_t i = 0; i < n; ++i) one[i][i] = 1;
                EXPECT_LT(product(on, smoother, sparse_of(on, one, static_cast<index_t>(n)).view()).entries(), a.entries());
                const auto tentative = tentative_prolongator<double>(on, aggregated(on, a.view(), strong_entries(on, a.view(), {}).view()),
                                                                     near_null.view(), 1, 1);
                const auto P = dense(product(on, smoother, tentative.P.view()));
                const auto coarse = to_host(tentative.coarse_null);
                for (std::size_t i = 0; i < n; ++i) {
                    double sum = 0;
                    for (std::size_t j = 0; j < coarse.size(); ++j) sum += P[i][j] * coarse[j];
                    EXPECT_NEAR(sum, b[i], 1e-12 * b[i]) << i;
                }
            },
            space);
}

/// Each node with a neighbour is in one aggregate; an aggregate has a root whose neighbours are all in it; others are at most two edges
/// away from a node of theirs; roots of different aggregates are more than two edges apart.
TEST(AggregationParts, AggregatesPartitionTheGraph) {
    const std::vector<CsrMatrix> graphs = {box_matrix({9, 8, 7}), box_matrix({50, 1, 1}),    random_graph(400, 900, 4), star(60, 7),
                                           complete(30),          random_graph(500, 120, 5), matrix_of(1, {}),          matrix_of(5, {})};
    for (const auto& graph : graphs) {
        std::vector<std::int32_t> first;
        for (const auto& space : set_up_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    const auto n = static_cast<std::size_t>(graph.rows());
                    Rows<double, S> rows;
                    rows.rows = rows.columns = graph.rows();
                    rows.begin = to_space(on, std::vector<std::uint32_t>(graph.begin.begin(), graph.begin.end()));
                    rows.column = to_space(on, graph.column);
                    rows.value = to_space(on, graph.value);
                    std::vector<std::uint8_t> strong;
                    for (std::size_t node = 0; node < n; ++node)
                        for (auto e = graph.begin[node]; e < graph.begin[node + 1]; ++e)
                            strong.push_back(graph.column[static_cast<std::size_t>(e)] != static_cast<std::int32_t>(node));
                    const auto found = aggregated(on, rows.view(), to_space(on, strong).view());
                    const auto of = to_host(found.of);
                    if (first.empty()) first = of;
                    EXPECT_EQ(of, first);
                    std::vector<std::set<std::int32_t>> members(static_cast<std::size_t>(found.count));
                    for (std::size_t node = 0; node < n; ++node) {
                        const bool alone = graph.begin[node + 1] - graph.begin[node] == 1;
                        ASSERT_EQ(of[node] < 0, alone);
                        ASSERT_LT(of[node], found.count);
                        if (!alone) members[static_cast<std::size_t>(of[node])].insert(static_cast<std::int32_t>(node));
                    }
                    for (const auto& nodes : members) {
                        ASSERT_GE(nodes.size(), 2u);
                        bool rooted = false;
                        for (const auto node : nodes) {
                            bool all = true, linked = false;
                            for (auto e = graph.begin[static_cast<std::size_t>(node)]; e < graph.begin[static_cast<std::size_t>(node) + 1];
                                 ++e) {
                                const auto other = graph.column[static_cast<std::size_t>(e)];
                                all = all && nodes.contains(other);
                                linked = linked || (other != node && nodes.contains(other));
                            }
                            rooted = rooted || all;
                            EXPECT_TRUE(linked);
                        }
                        EXPECT_TRUE(rooted);
                    }
                },
                space);
    }
}

TEST(AggregationParts, NearNullVectorsAreOrthonormalInAnAggregate) {
    constexpr int vectors = 4, rows_per_node = 2, nodes = 40;
    std::vector<double> null;
    RandomStream random(2, 0);
    for (int row = 0; row < nodes * rows_per_node; ++row) {
        const double u = random.uniform(), v = random.uniform();
        for (const double value : {u, v, 2 * u - v, random.uniform()}) null.push_back(value);  // the third depends on the first two
    }
    std::vector<std::int32_t> of;
    for (int node = 0; node < nodes; ++node) of.push_back(node % 7 == 6 ? -1 : node % 7 == 5 ? 4 : node % 5);
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                Aggregates<S> aggregates;
                aggregates.of = to_space(on, of), aggregates.count = 5;
                const auto given = to_space(on, null);
                const auto result = tentative_prolongator<double>(on, aggregates, given.view(), vectors, rows_per_node);
                const auto P = dense(result.P);
                const auto gram = times(flipped(P, 20), P);
                for (std::size_t i = 0; i < 20; ++i)
                    for (std::size_t j = 0; j < 20; ++j) EXPECT_NEAR(gram[i][j], i == j && i % 4 != 2 ? 1 : 0, 1e-13) << i << ", " << j;
                const auto coarse = to_host(result.coarse_null);
                for (std::size_t row = 0; row < P.size(); ++row)
                    for (std::size_t a = 0; a < vectors; ++a) {
                        double sum = 0;
                        for (std::size_t j = 0; j < 20; ++j) sum += P[row][j] * coarse[j * vectors + a];
                        EXPECT_NEAR(sum, of[row / rows_per_node] < 0 ? 0 : null[row * vectors + a], 1e-13);
                    }
            },
            space);
}

TEST(AggregationParts, BlockNormsAreThoseOfTheBlocks) {
    auto D = random_dense(24, 24, 0.2, 3);
    D = times(D, flipped(D, 24));
    for (std::size_t i = 0; i < 24; ++i) D[i][i] += 1;
    for (const auto& space : set_up_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const auto norms = dense(block_norms(on, sparse_of(on, D, 24).view(), 3));
                const auto square = [&](std::size_t v, std::size_t w) {
                    double sum = 0;
                    for (std::size_t i = 0; i < 9; ++i) sum += D[3 * v + i / 3][3 * w + i % 3] * D[3 * v + i / 3][3 * w + i % 3];
                    return sum;
                };
                for (std::size_t v = 0; v < 8; ++v)
                    for (std::size_t w = 0; w < 8; ++w)
                        EXPECT_NEAR(norms[v][w], std::sqrt(square(v, w)) / std::pow(square(v, v) * square(w, w), 0.25), 1e-13);
            },
            space);
}

/// 1 on the diagonal and `bonds[i]` between rows i and i + 1.
Rows<float, Cpu> chain_of(const std::vector<float>& bonds) {
    const auto n = static_cast<std::uint32_t>(bonds.size()) + 1;
    std::vector<std::uint32_t> begin{0};
    std::vector<std::int32_t> column;
    std::vector<float> value;
    const auto add = [&](std::uint32_t at, float of) { column.push_back(static_cast<std::int32_t>(at)), value.push_back(of); };
    for (std::uint32_t i = 0; i < n; ++i) {
        if (i > 0) add(i - 1, bonds[i - 1]);
        add(i, 1);
        if (i + 1 < n) add(i + 1, bonds[i]);
        begin.push_back(static_cast<std::uint32_t>(column.size()));
    }
    Rows<float, Cpu> A;
    A.rows = A.columns = n;
    A.begin = to_space(Cpu{1}, begin), A.column = to_space(Cpu{1}, column), A.value = to_space(Cpu{1}, value);
    return A;
}

TEST(AggregationParts, LargestRitzValueFindsAPairAmongManyRows) {
    const auto ritz = [](int threads, const std::vector<float>& bonds) {
        const auto A = chain_of(bonds);
        Buffer<float, Cpu> v(Cpu{1}, A.rows), w(Cpu{1}, A.rows), before(Cpu{1}, A.rows);
        return largest_ritz_value(Cpu{threads}, A.view(), 16, INFINITY, v, w, before);
    };
    // All but two of 40,000 rows have eigenvalues of at most 1.2: eight steps of the power method end near 1.3.
    std::vector<float> bonds(39'999, 0.1f);
    bonds[19'999] = bonds[20'001] = 0, bonds[20'000] = 0.95f;
    const double found = ritz(1, bonds);
    EXPECT_NEAR(found, 1.95, 1e-4) << "the gap is wide: sixteen steps meet it to the rounding of single precision";
    EXPECT_EQ(ritz(3, bonds), found);
    // 1 + 2 h cos(pi / (n + 1)) for n rows and bonds h. No gap: theory expects at most 12% too little, and never too much.
    for (const std::size_t n : {2u, 3u, 10u, 1000u, 40'000u}) {
        const double exact = 1 + cos(3.141592653589793 / static_cast<double>(n + 1)), value = ritz(2, std::vector<float>(n - 1, 0.5f));
        EXPECT_LE(value, exact * (1 + 1e-5)) << n;
        EXPECT_GE(value, exact * (n <= 16 ? 1 - 1e-5 : 0.9)) << n;
    }
    EXPECT_NEAR(ritz(1, {}), 1, 1e-6);
}

TEST(AggregationParts, LargestEigenvalueOfAPartIsTakenWhereItIsEnough) {
    constexpr index_t n = index_t{1} << 20;
    const auto estimate = [&](const std::vector<float>& bonds, double enough, bool whole) {
        const auto A = chain_of(bonds);
        Buffer<float, Cpu> v(Cpu{2}, n), w(Cpu{2}, n), before(Cpu{2}, n);
        return whole ? largest_ritz_value(Cpu{2}, A.view(), 16, enough, v, w, before)
                     : largest_eigenvalue(Cpu{2}, A.view(), 16, enough, v, w, before);
    };
    // 1 + cos(pi / (n + 1)) is the largest one of all rows: a part comes near to it.
    std::vector<float> bonds(n - 1, 0.5f);
    const double found = estimate(bonds, 1.8, false);
    EXPECT_GE(found, 1.8);
    EXPECT_LE(found, 2 * (1 + 1e-5));
    EXPECT_NE(found, estimate(bonds, 1.8, true));
    // Nothing couples the first rows: all rows decide.
    std::fill_n(bonds.begin(), n / 2, 0.f);
    EXPECT_EQ(estimate(bonds, 1.8, false), estimate(bonds, 1.8, true));
    EXPECT_GE(estimate(bonds, 1.8, false), 1.8);
}

TEST(AggregationParts, DenseInverseSolvesAlsoInTheRangeOfASingularMatrix) {
    for (const bool singular : {false, true}) {
        const std::size_t n = 30;
        auto L = zeros(n, n);
        for (std::size_t i = 0; i + 1 < n; ++i) L[i][i] += 1, L[i + 1][i + 1] += 1, L[i][i + 1] -= 1, L[i + 1][i] -= 1;
        if (!singular) L[0][0] += 0.5;
        std::vector<double> flat;
        for (const auto& row : L) flat.insert(flat.end(), row.begin(), row.end());
        const auto inverse = dense_inverse(flat, static_cast<int>(n));
        std::vector<double> wanted(n), b(n, 0.), x(n, 0.);
        for (std::size_t i = 0; i < n; ++i) wanted[i] = std::sin(static_cast<double>(3 * i));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) b[i] += L[i][j] * wanted[j];
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                x[i] += inverse[i * n + j] * b[j];
                EXPECT_NEAR(inverse[i * n + j], inverse[j * n + i], 1e-12);
            }
        const double shift = singular ? wanted[0] - x[0] : 0;
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i] + shift, wanted[i], 1e-11) << singular;
    }
}

TEST(AggregationParts, DenseInverseOfAHermitianMatrix) {
    // The Laplacian of a line with phases on its links, with and without a null vector.
    using Value = std::complex<double>;
    constexpr std::size_t n = 24;
    const auto phase = [](std::size_t i) { return std::polar(1., 2.7 * static_cast<double>(i * i)); };
    for (const double shift : {0.5, 0., -0.3}) {
        std::vector<ComplexNumber> A(n * n, ComplexNumber{0, 0});
        const auto add = [&](std::size_t i, std::size_t j, Value z) { A[i * n + j] += ComplexNumber{z.real(), z.imag()}; };
        add(0, 0, shift);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const Value link = phase(i) * std::conj(phase(i + 1));
            add(i, i, 1), add(i + 1, i + 1, 1), add(i, i + 1, -link), add(i + 1, i, -std::conj(link));
        }
        bool positive = shift < 0;
        const auto inverse = dense_inverse(A, static_cast<int>(n), &positive);
        EXPECT_EQ(positive, shift >= 0);
        if (shift < 0) continue;
        // A A^+ A = A, and A^+ is Hermitian.
        const auto times = [](const std::vector<ComplexNumber>& a, const std::vector<ComplexNumber>& b) {
            std::vector<ComplexNumber> c(n * n, ComplexNumber{0, 0});
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t k = 0; k < n; ++k)
                    for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
            return c;
        };
        const auto again = times(times(A, inverse), A);
        for (std::size_t e = 0; e < A.size(); ++e) EXPECT_LE(magnitude(again[e] - A[e]), 1e-11) << shift;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const auto mirror = inverse[j * n + i];
                EXPECT_LE(magnitude(inverse[i * n + j] - ComplexNumber{mirror.re, -mirror.im}), 1e-12);
            }
    }
}

}  // namespace
}  // namespace kasane::sparse
