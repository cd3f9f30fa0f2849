// Stencils of matrices, and that products have the same bits with them.
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include "sparse/box.hpp"
#include "sparse/order/graphs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<double> random_values(index_t n, std::uint64_t seed) {
    std::vector<double> values;
    RandomStream random(seed, 0);
    for (index_t i = 0; i < n; ++i) values.push_back(random.uniform() - 0.5);
    return values;
}

Rows<double, Cpu> copied(const CsrMatrix& A) { return copied_rows(Cpu{1}, A.view(), A.nonzeros()); }

/// A x with stencils, and sums of each row in the order of its entries.
void expect_same_products(const CsrMatrix& A) {
    const auto x = random_values(A.rows(), 5);
    std::vector<double> wanted;
    for (std::size_t row = 0; row < x.size(); ++row) {
        double sum = 0;
        for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
            sum += A.value[e] * x[static_cast<std::size_t>(A.column[e])];
        wanted.push_back(sum);
    }
    for (const Cpu on : {Cpu{1}, Cpu{3}}) {
        const auto rows = copied_rows(on, A.view(), A.nonzeros());
        std::vector<double> y(x.size(), -1.), z(x.size(), -1.);
        multiply(on, rows.view(), view(x), view(y));
        EXPECT_EQ(y, wanted);
        const double product = multiply_with_product(on, rows.view(), view(x), view(z));
        EXPECT_EQ(z, wanted);
        double sum = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * wanted[i], size += std::fabs(x[i] * wanted[i]);
        EXPECT_NEAR(product, sum, 1e-15 * size * std::sqrt(static_cast<double>(x.size())));
    }
}

CsrMatrix with_random_values(CsrMatrix A) {
    A.value = random_values(A.nonzeros(), 7);
    return A;
}

TEST(Stencils, OfABoxAreThoseOfItsInnerCellsAndBorders) {
    const auto A = copied(box_matrix({12, 9, 7}));
    ASSERT_TRUE(A.stencils);
    const auto number = [&](index_t i, index_t j, index_t k) { return A.stencils->of(i + 12 * (j + 9 * k)); };
    const auto& inner = (*A.stencils)[number(5, 4, 3)];
    EXPECT_EQ(std::vector<int>(inner.distance, inner.distance + inner.entries), (std::vector<int>{-108, -12, -1, 0, 1, 12, 108}));
    EXPECT_EQ(number(5, 4, 3), number(1, 1, 5));
    EXPECT_NE(number(5, 4, 3), number(0, 4, 3));
    EXPECT_EQ(number(0, 4, 3), number(0, 7, 1));
    EXPECT_EQ((*A.stencils)[number(11, 8, 6)].entries, 4);
}

TEST(Stencils, KeepTheBitsOfProducts) {
    expect_same_products(with_random_values(box_matrix({40, 30, 20})));
    expect_same_products(with_random_values(box_matrix({150, 120, 1})));
    expect_same_products(with_random_values(box_matrix({3000, 1, 1})));
}

TEST(Stencils, OfTensorsHaveUpTo27Entries) {
    PoissonProblem problem;
    problem.cells = {17, 16, 15};
    problem.tensor = {{{3}, {1}, {0.5}, {2}, {0.2}, {2}}};
    const auto A = poisson_matrix(problem);
    const auto rows = copied(A);
    ASSERT_TRUE(rows.stencils);
    expect_same_products(with_random_values(A));
}

/// A box, in which some rows are coupled to a far one.
TEST(Stencils, SomeRowsMayHaveNone) {
    constexpr int n = 4000, others = 300;
    Couplings couplings;
    for (int i = 0; i + 1 < n; ++i) couplings.push_back({i, i + 1});
    for (int i = 0; i < others; ++i) couplings.push_back({7 * i, n - 1 - i * i % 1000});
    const auto A = matrix_of(n, couplings);
    const auto rows = copied(A);
    ASSERT_TRUE(rows.stencils);
    index_t without = 0;
    for (index_t row = 0; row < n; ++row) without += rows.stencils->of(row) == Stencils::none;
    EXPECT_GT(without, 200);
    expect_same_products(with_random_values(A));
}

TEST(Stencils, AreNotLookedForWhereRowsDiffer) {
    Couplings couplings;
    RandomStream random(3, 0);
    constexpr int n = 20000;
    for (int i = 0; i < 3 * n; ++i) couplings.push_back({static_cast<int>(random.uniform() * n), static_cast<int>(random.uniform() * n)});
    const auto graph = matrix_of(n, couplings);
    EXPECT_FALSE(copied(graph).stencils);
    expect_same_products(with_random_values(graph));
    // Rows of more entries than a stencil has.
    Couplings wide;
    for (int i = 0; i < 500; ++i)
        for (int k = 1; k < 20; ++k) wide.push_back({i, (i + k) % 500});
    EXPECT_FALSE(copied(matrix_of(500, wide)).stencils);
    expect_same_products(with_random_values(matrix_of(500, wide)));
    EXPECT_FALSE(copied(matrix_of(0, {})).stencils);
}

}  // namespace
}  // namespace kasane::sparse
