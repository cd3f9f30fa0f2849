// Incomplete LU factors with a threshold: against complete elimination, against what may be dropped, and as a preconditioner.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>
#include <kasane/sparse/precondition/threshold_lu.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_lu.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>

namespace kasane::sparse {
namespace {

using namespace kasane::sparse::test;
using Dense = std::vector<std::vector<double>>;

Dense dense_of(const CsrMatrix& A) {
    Dense D(static_cast<std::size_t>(A.rows()), std::vector<double>(static_cast<std::size_t>(A.rows()), 0.));
    for (std::size_t i = 0; i < D.size(); ++i)
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            D[i][static_cast<std::size_t>(A.column[e])] += A.value[e];
    return D;
}

/// L U of the factors.
Dense product_of(const ThresholdLu& lu) {
    auto L = dense_of(lu.lower.beside), U = dense_of(lu.upper.beside);
    const std::size_t n = L.size();
    Dense P(n, std::vector<double>(n, 0.));
    for (std::size_t i = 0; i < n; ++i) L[i][i] = 1 / lu.lower.inverse_diagonal[i], U[i][i] = 1 / lu.upper.inverse_diagonal[i];
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < n; ++j) P[i][j] += L[i][k] * U[k][j];
    return P;
}

std::vector<CsrMatrix> matrices() { return {convection(9, 0.02, 1, -0.5), random_general(90, 6, 4, 11), helmholtz(9, 1.3)}; }

std::vector<double> solved(const LevelFactors<Cpu>& factors, const std::vector<double>& b) {
    const auto in = to_space(Cpu{1}, b);
    Buffer<double, Cpu> out(Cpu{1}, in.size());
    factors.solve(in, out);
    return to_host(out);
}

LevelFactors<Cpu> on_cpu(const ThresholdLu& lu, int threads) {
    return {LevelTriangle<Cpu>(Cpu{threads}, lu.lower, true), LevelTriangle<Cpu>(Cpu{threads}, lu.upper, false)};
}

TEST(ThresholdLu, WithoutAThresholdIsElimination) {
    for (const auto& A : matrices()) {
        const auto lu = threshold_lu(A.view(), {0, A.rows()}, 0);
        EXPECT_EQ(lu.replaced, 0);
        const auto b = waves(A.rows()), x = solved(on_cpu(lu, 2), b), exact = reference::lu_solve(A, b);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], exact[i], 1e-9 * (1 + std::fabs(exact[i]))) << i;
    }
}

TEST(ThresholdLu, DiffersFromAByWhatMayBeDropped) {
    for (const auto& A : matrices())
        for (const double tolerance : {0.3, 0.03, 1e-3}) {
            const auto lu = threshold_lu(A.view(), {tolerance, A.rows()}, 0);
            ASSERT_EQ(lu.replaced, 0);
            const auto exact = dense_of(A), P = product_of(lu);
            double largest = 0;
            for (std::size_t i = 0; i < P.size(); ++i) {
                double norm = 0;
                for (const double one : exact[i]) norm += one * one;
                norm = std::sqrt(norm);
                // Each place is dropped at most once. Factors and pivots of these matrices amplify rounding by less than 1e3.
                for (std::size_t j = 0; j < P.size(); ++j) {
                    EXPECT_LE(std::fabs(P[i][j] - exact[i][j]), tolerance * norm + 1e-12 * norm) << i << ", " << j;
                    largest = std::fmax(largest, std::fabs(P[i][j] - exact[i][j]) / norm);
                }
            }
            EXPECT_GT(largest, 0.1 * tolerance) << "something is dropped";
        }
}

TEST(ThresholdLu, KeepsTheLargestEntriesOfARow) {
    // An arrow: elimination fills everything, and the last row has one entry for each column.
    constexpr index_t n = 40;
    Entries arrow{n, {}};
    for (index_t i = 0; i < n; ++i) arrow.at[{i, i}] = 10, arrow.at[{i, 0}] = arrow.at[{0, i}] = i == 0 ? 10 : 0.1 * static_cast<double>(i);
    const CsrMatrix A = arrow.matrix();
    for (const index_t fill : {0, 1, 3, 7}) {
        const auto lu = threshold_lu(A.view(), {0, fill}, 0);
        for (std::size_t i = 1; i < n; ++i) {
            const auto below = lu.lower.beside.begin[i + 1] - lu.lower.beside.begin[i];
            const auto above = lu.upper.beside.begin[i + 1] - lu.upper.beside.begin[i];
            EXPECT_EQ(below, std::min<index_t>(1 + fill, static_cast<index_t>(i))) << "A has one entry";
            EXPECT_EQ(above, std::min<index_t>(fill, n - 1 - static_cast<index_t>(i))) << "A has none";
        }
        // Row 1 of U is -a_10 a_0j / a_00: its largest entries are the last.
        const auto& U = lu.upper.beside;
        for (index_t k = 0; k < fill; ++k)
            EXPECT_EQ(U.column[static_cast<std::size_t>(U.begin[1] + k)], static_cast<std::int32_t>(n - fill + k));
    }
}

TEST(ThresholdLu, ReplacesPivotsAndSolvesInAnyNumberOfThreads) {
    const CsrMatrix exchange = Entries{2, {{{0, 1}, 1}, {{1, 0}, 1}}}.matrix();
    const auto lu = threshold_lu(exchange.view(), {0, 2}, 0);
    EXPECT_EQ(lu.replaced, 1);
    EXPECT_TRUE(std::isfinite(lu.upper.inverse_diagonal[0]) && std::isfinite(lu.upper.inverse_diagonal[1]));
    const CsrMatrix A = convection(120, 0.01, 1, 1);
    const auto factors = threshold_lu(A.view(), {1e-2, 5}, 0);
    const auto b = waves(A.rows()), one = solved(on_cpu(factors, 1), b);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(solved(on_cpu(factors, threads), b), one) << threads;
    // Every row of a diagonal matrix is on the first level.
    const auto diagonal = threshold_lu(Entries{3, {{{0, 0}, 2}, {{1, 1}, 4}, {{2, 2}, -8}}}.matrix().view(), {0.1, 3}, 0);
    EXPECT_EQ(on_cpu(diagonal, 1).lower.levels(), 1);
    EXPECT_EQ(solved(on_cpu(diagonal, 1), {2, 4, 8}), (std::vector<double>{1, 1, -1}));
}

TEST(ThresholdLu, TakesFewerIterationsWithMoreFill) {
    const CsrMatrix A = convection(60, 0.01, 1, -1);
    const auto b = waves(A.rows());
    for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres}) {
        const auto iterations = [&](GeneralPrecondition kind, double tolerance, int fill) {
            GeneralOptions options{.method = method, .precondition = kind, .ordering = Ordering::parse("natural")};
            options.drop_tolerance = tolerance, options.fill = fill;
            SolveLog log;
            const auto x = GeneralSolver(Cpu{2}, A.view(), options).solve(b, &log);
            EXPECT_TRUE(log.converged());
            EXPECT_LE(residual_of(A, b, x), 1e-8 * (1 + 1e-6));
            return log.iterations;
        };
        const int without_fill = iterations(GeneralPrecondition::ilu0, 0, 0), some = iterations(GeneralPrecondition::ilut, 1e-2, 5),
                  many = iterations(GeneralPrecondition::ilut, 1e-4, 40);
        EXPECT_LT(some, without_fill);
        EXPECT_LT(many, some);
    }
}

TEST(ThresholdLu, IsDescribedUpdatedAndRefused) {
    const CsrMatrix A = convection(20, 0.05, 1, 0.3), other = convection(20, 0.5, 1, 0);
    GeneralOptions options{.method = GeneralMethod::bicgstab, .precondition = GeneralPrecondition::ilut};
    GeneralSolver solver(Cpu{1}, A.view(), options), fresh(Cpu{1}, other.view(), options);
    EXPECT_EQ(solver.setup().precondition, "ilut");
    EXPECT_EQ(solver.setup().ordering, "natural");
    bool noted = false;
    for (const auto& note : solver.setup().notes) noted = noted || note.find("levels of rows") != std::string::npos;
    EXPECT_TRUE(noted);
    solver.update(other.view());
    EXPECT_EQ(solver.solve(waves(A.rows())), fresh.solve(waves(A.rows())));
    options.method = GeneralMethod::minres;
    EXPECT_THROW(GeneralSolver(Cpu{1}, helmholtz(5, 0.1).view(), options), InputError);
    options.method = GeneralMethod::gmres;
    for (const double tolerance : {-1e-3, 1., std::nan("")}) {
        options.drop_tolerance = tolerance;
        EXPECT_THROW(GeneralSolver(Cpu{1}, A.view(), options), InputError) << tolerance;
    }
    options.drop_tolerance = 1e-3, options.fill = -1;
    EXPECT_THROW(GeneralSolver(Cpu{1}, A.view(), options), InputError);
}

}  // namespace
}  // namespace kasane::sparse
