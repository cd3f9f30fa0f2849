// Incomplete Cholesky factors with levels of fill: their places and entries against the definition, and as a preconditioner of Solver.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/operators.hpp>
#include <kasane/sparse/precondition/level_cholesky.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>
#include <kasane/sparse/precondition/threshold_cholesky.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_cholesky.hpp>
#include <test/sparse/general_systems.hpp>
#include <test/sparse/order/graphs.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace kasane::sparse::test;

constexpr int absent = 1 << 20;

std::vector<CsrMatrix> matrices_for_levels() { return {convection(9, 1, 0, 0), box27(4, 3, 4), random_graph(70, 200, 3)}; }

/// [row n + column] levels of all places by the definition, on a dense matrix.
std::vector<int> dense_levels(const CsrMatrix& A) {
    const auto n = static_cast<std::size_t>(A.rows());
    std::vector<int> level(n * n, absent);
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e)
            level[i * n + static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])] = 0;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i)
            for (std::size_t j = k + 1; j < n; ++j) level[i * n + j] = std::min(level[i * n + j], level[i * n + k] + level[k * n + j] + 1);
    return level;
}

/// The entry of L, its diagonal included.
double entry(const CholeskyFactor& factor, std::size_t i, std::size_t j) {
    if (i == j) return 1 / factor.lower.inverse_diagonal[i];
    const auto& L = factor.lower.beside;
    for (auto e = L.begin[i]; e < L.begin[i + 1]; ++e)
        if (L.column[static_cast<std::size_t>(e)] == static_cast<std::int32_t>(j)) return L.value[static_cast<std::size_t>(e)];
    return 0;
}

TEST(LevelCholesky, HasTheLevelsOfTheDefinitionAndAThere) {
    for (const auto& A : matrices_for_levels()) {
        const auto n = static_cast<std::size_t>(A.rows());
        const auto level = dense_levels(A);
        for (const int most : {0, 1, 2, 4}) {
            const auto factor = level_cholesky(A.view(), most);
            ASSERT_EQ(factor.shift, 0) << "these are M-matrices, whose pivots stay positive";
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j <= i; ++j) {
                    if (level[i * n + j] > most) {
                        EXPECT_EQ(entry(factor, i, j), 0) << i << ", " << j;
                        continue;
                    }
                    EXPECT_NE(entry(factor, i, j), 0) << i << ", " << j;
                    double product = 0, original = 0;
                    for (std::size_t k = 0; k <= j; ++k) product += entry(factor, i, k) * entry(factor, j, k);
                    for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e)
                        if (A.column[static_cast<std::size_t>(e)] == static_cast<std::int32_t>(j))
                            original = A.value[static_cast<std::size_t>(e)];
                    EXPECT_NEAR(product, original, 1e-12 * 60) << i << ", " << j;
                }
        }
    }
}

TEST(LevelCholesky, LevelZeroIsIc0AndManyLevelsAreComplete) {
    for (const auto& A : matrices_for_levels()) {
        const auto b = waves(A.rows());
        const auto solved = [&](int level) {
            const auto factor = level_cholesky(A.view(), level);
            const LevelFactors<Cpu> M{LevelTriangle<Cpu>(Cpu{2}, factor.lower, true),
                                      LevelTriangle<Cpu>(Cpu{2}, transposed(factor.lower), false)};
            Buffer<double, Cpu> out(Cpu{1}, A.rows());
            M.solve(to_space(Cpu{1}, b), out);
            return to_host(out);
        };
        std::vector<double> ic0(b.size());
        IncompleteCholesky(A.view()).solve(b, ic0);
        const auto zero = solved(0), all = solved(static_cast<int>(A.rows())), exact = reference::dense_solve(A, b);
        for (std::size_t i = 0; i < b.size(); ++i) {
            EXPECT_NEAR(zero[i], ic0[i], 1e-11 * std::fabs(ic0[i])) << i;
            EXPECT_NEAR(all[i], exact[i], 1e-9 * std::fabs(exact[i])) << i;
        }
    }
}

TEST(LevelCholesky, MoreLevelsTakeFewerIterations) {
    const CsrMatrix A = convection(70, 1, 0, 0);
    const auto b = waves(A.rows());
    std::vector<AnySpace> spaces{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) spaces.push_back(best_space());
    for (const auto& on : spaces) {
        int before = 1 << 20;
        for (const int level : {0, 1, 3, 6}) {
            SolverOptions options;
            options.precondition = Precondition::ick;
            options.level = level;
            Solver solver(on, A.view(), options);
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged());
            EXPECT_LE(residual_of(A, b, x), 1e-8 * (1 + 1e-6));
            EXPECT_EQ(solver.setup().precondition, "ick");
            EXPECT_LE(solver.setup().bytes, memory_estimate(A.rows(), A.nonzeros(), options));
            EXPECT_LT(log.iterations, before) << level;
            before = log.iterations;
        }
    }
}

TEST(LevelCholesky, RowsInOrderAndByLevelsHaveTheSameBits) {
    // Rows of few levels: several threads solve level by level, one thread in the order of elimination.
    const CsrMatrix A = random_graph(20000, 6000, 3);
    const auto factor = level_cholesky(A.view(), 1);
    const auto b = waves(A.rows());
    std::vector<double> in_order;
    for (const int threads : {1, 3}) {
        const LevelFactors<Cpu> M{LevelTriangle<Cpu>(Cpu{threads}, factor.lower, true),
                                  LevelTriangle<Cpu>(Cpu{threads}, transposed(factor.lower), false)};
        ASSERT_LT(M.lower.levels() * 512, A.rows()) << "the threads would find too few rows in a level";
        Buffer<double, Cpu> out(Cpu{1}, A.rows());
        M.solve(to_space(Cpu{1}, b), out);
        if (threads == 1) in_order = to_host(out);
        EXPECT_EQ(to_host(out), in_order);
    }
}

TEST(LevelCholesky, EndsWhereItsFactorIsTooLarge) {
    // Row 0 is coupled to all others: level 1 couples all of them.
    Entries star{200, {}};
    for (index_t i = 0; i < 200; ++i) star.at[{i, i}] = 200, star.at[{0, i}] = star.at[{i, 0}] = i == 0 ? 200 : -1;
    const CsrMatrix A = star.matrix();
    EXPECT_EQ(level_cholesky(A.view(), 1, {200 * 199 / 2, {}}).lower.beside.nonzeros(), 200 * 199 / 2);
    try {
        level_cholesky(A.view(), 1, {5000, {}});
        FAIL() << "the factor has 19,900 entries";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("would not fit in the memory"), std::string::npos) << error.what();
    }
    const auto stop = [] { throw ComputationError("interrupted"); };
    EXPECT_THROW(level_cholesky(A.view(), 1, {5000, stop}), ComputationError);
}

TEST(LevelCholesky, RaisesTheDiagonalAndRefusesWrongOptions) {
    // Eigenvalues -0.8, 1.9, 1.9: positive with the diagonal raised by 0.8 or more.
    Entries three{3, {}};
    for (index_t i = 0; i < 3; ++i)
        for (index_t j = 0; j < 3; ++j) three.at[{i, j}] = i == j ? 1 : -0.9;
    EXPECT_GE(level_cholesky(three.matrix().view(), 1).shift, 0.8);
    Entries far{2, {{{0, 0}, 1}, {{0, 1}, 9}, {{1, 0}, 9}, {{1, 1}, 1}}};
    EXPECT_THROW(level_cholesky(far.matrix().view(), 1), PreconditionError);

    const CsrMatrix A = convection(5, 1, 0, 0);
    SolverOptions options;
    options.precondition = Precondition::ick;
    for (const int level : {-1, 10}) {
        options.level = level;
        EXPECT_THROW(Solver(Cpu{1}, A.view(), options), InputError) << level;
    }
    EXPECT_EQ(parse_precondition("ick"), Precondition::ick);
    EigenOptions eigen;
    eigen.precondition = Precondition::ick;
    EXPECT_THROW(eigenpairs(Cpu{1}, A.view(), eigen), InputError);
}

}  // namespace
}  // namespace kasane::sparse
