// Incomplete Cholesky factors with a threshold: against the complete factor, against what may be dropped, and as a preconditioner of
// Solver.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>
#include <kasane/sparse/precondition/threshold_cholesky.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_cholesky.hpp>
#include <test/sparse/general_systems.hpp>
#include <test/sparse/order/graphs.hpp>

#include <cmath>

namespace kasane::sparse {
namespace {

using namespace kasane::sparse::test;

std::vector<AnySpace> threshold_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

/// Symmetric positive definite: the sizes of rows differ by up to 1e6.
std::vector<CsrMatrix> positive_matrices() {
    std::vector<CsrMatrix> all{convection(9, 1, 0, 0), box27(4, 5, 4), random_graph(70, 200, 3)};
    CsrMatrix scaled = convection(8, 1, 0, 0);
    for (std::size_t i = 0; i < 64; ++i)
        for (auto e = static_cast<std::size_t>(scaled.begin[i]); e < static_cast<std::size_t>(scaled.begin[i + 1]); ++e)
            scaled.value[e] *= std::pow(10., 3 * std::sin(static_cast<double>(i)) + 3 * std::sin(static_cast<double>(scaled.column[e])));
    all.push_back(scaled);
    return all;
}

double entry_of(const CsrMatrix& A, std::size_t row, std::size_t column) {
    for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
        if (A.column[e] == static_cast<std::int32_t>(column)) return A.value[e];
    return 0;
}

TEST(ThresholdCholesky, WithoutAThresholdIsComplete) {
    for (const auto& A : positive_matrices()) {
        const auto factor = threshold_cholesky(A.view(), {0, A.rows()});
        EXPECT_EQ(factor.shift, 0);
        const LevelFactors<Cpu> M{LevelTriangle<Cpu>(Cpu{2}, factor.lower, true),
                                  LevelTriangle<Cpu>(Cpu{2}, transposed(factor.lower), false)};
        const auto b = waves(A.rows()), exact = reference::dense_solve(A, b);
        Buffer<double, Cpu> out(Cpu{1}, A.rows());
        M.solve(to_space(Cpu{1}, b), out);
        // The condition numbers are below 1e4 in the units of rows.
        for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(out.data()[i], exact[i], 1e-9 * std::fabs(exact[i])) << i;
    }
}

TEST(ThresholdCholesky, DiffersFromAByWhatMayBeDropped) {
    for (const auto& A : positive_matrices())
        for (const double tolerance : {0.1, 0.01}) {
            const auto factor = threshold_cholesky(A.view(), {tolerance, A.rows()});
            ASSERT_EQ(factor.shift, 0) << "these are M-matrices, whose pivots stay positive";
            const auto n = static_cast<std::size_t>(A.rows());
            const auto L = [&](std::size_t i, std::size_t j) {
                return i == j ? 1 / factor.lower.inverse_diagonal[i] : entry_of(factor.lower.beside, i, j);
            };
            double largest = 0;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j <= i; ++j) {
                    double product = 0;
                    for (std::size_t k = 0; k <= j; ++k) product += L(i, k) * L(j, k);
                    const double unit = std::sqrt(entry_of(A, i, i) * entry_of(A, j, j));
                    EXPECT_LE(std::fabs(product - entry_of(A, i, j)), (i == j ? 1e-12 : tolerance + 1e-12) * unit) << i << ", " << j;
                    largest = std::fmax(largest, std::fabs(product - entry_of(A, i, j)) / unit);
                }
            EXPECT_GT(largest, 0.1 * tolerance) << "something is dropped";
        }
}

TEST(ThresholdCholesky, LimitsFillAndRaisesTheDiagonal) {
    const CsrMatrix A = convection(30, 1, 0, 0);
    for (const index_t fill : {0, 2, 5}) {
        const auto factor = threshold_cholesky(A.view(), {0, fill});
        const auto& L = factor.lower.beside;
        for (std::size_t i = 0; i < 900; ++i) {
            index_t below = 0;
            for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e)
                below += A.column[static_cast<std::size_t>(e)] < static_cast<std::int32_t>(i);
            EXPECT_LE(L.begin[i + 1] - L.begin[i], below + fill);
        }
        EXPECT_GT(L.nonzeros(), 2 * 870 - 30 + (fill > 0 ? 800 * fill : -100)) << "most rows of a band use their fill";
    }
    // Eigenvalues -0.8, 1.9, 1.9: positive with the diagonal raised by 0.8 or more.
    Entries three{3, {}};
    for (index_t i = 0; i < 3; ++i)
        for (index_t j = 0; j < 3; ++j) three.at[{i, j}] = i == j ? 1 : -0.9;
    EXPECT_GE(threshold_cholesky(three.matrix().view(), {0, 3}).shift, 0.8);
    Entries far{2, {{{0, 0}, 1}, {{0, 1}, 9}, {{1, 0}, 9}, {{1, 1}, 1}}};
    EXPECT_THROW(threshold_cholesky(far.matrix().view(), {0, 2}), PreconditionError);
}

TEST(ThresholdCholesky, SolvesByConjugateGradientsInFewerIterations) {
    const CsrMatrix A = convection(90, 1, 0, 0);
    const auto b = waves(A.rows());
    for (const auto& on : threshold_spaces()) {
        const auto iterations = [&](Precondition kind, double tolerance, int fill) {
            SolverOptions options;
            options.precondition = kind;
            options.ordering = kind == Precondition::ict ? Ordering{} : Ordering::parse("natural");
            options.drop_tolerance = tolerance, options.fill = fill;
            Solver solver(on, A.view(), options);
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged());
            EXPECT_LE(residual_of(A, b, x), 1e-8 * (1 + 1e-6));
            EXPECT_EQ(solver.setup().precondition, name(kind));
            return log.iterations;
        };
        const int without_fill = iterations(Precondition::ic0, 0, 0), some = iterations(Precondition::ict, 1e-2, 5),
                  many = iterations(Precondition::ict, 1e-4, 40);
        EXPECT_LT(some, without_fill * 3 / 4);
        EXPECT_LT(many, some * 3 / 4);
    }
}

TEST(ThresholdCholesky, ThreadsUpdatesAndSingularSystems) {
    const CsrMatrix A = convection(60, 1, 0, 0), C = convection(60, 3, 0, 0);
    const auto b = waves(A.rows());
    SolverOptions options;
    options.precondition = Precondition::ict;
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
        const auto x = Solver(Cpu{threads}, A.view(), options).solve(b);
        if (threads == 1) first = x;
        EXPECT_EQ(x, first);
    }
    Solver updated(Cpu{1}, A.view(), options);
    updated.update(C.view());
    EXPECT_EQ(updated.solve(b), Solver(Cpu{1}, C.view(), options).solve(b));
    // A ring of differences: constants are the null space, and the last pivot of the complete factor is zero.
    Entries ring{50, {}};
    for (index_t i = 0; i < 50; ++i) ring.at[{i, i}] = 2, ring.at[{i, (i + 1) % 50}] = ring.at[{(i + 1) % 50, i}] = -1;
    const CsrMatrix R = ring.matrix();
    std::vector<double> exact;
    for (int i = 0; i < 50; ++i) exact.push_back(std::cos(2 * 3.141592653589793 * i / 50));
    Solver solver(Cpu{1}, R.view(), options);
    SolveLog log;
    const auto x = solver.solve(product(R, exact), &log);
    EXPECT_TRUE(log.converged());
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(x[i], exact[i], 1e-6);
}

TEST(ThresholdCholesky, WrongOptionsAreRefused) {
    const CsrMatrix A = convection(5, 1, 0, 0);
    SolverOptions options;
    options.precondition = Precondition::ict;
    for (const double tolerance : {-1., 1., std::nan("")}) {
        options.drop_tolerance = tolerance;
        EXPECT_THROW(Solver(Cpu{1}, A.view(), options), InputError) << tolerance;
    }
    options.drop_tolerance = 1e-3, options.fill = -1;
    EXPECT_THROW(Solver(Cpu{1}, A.view(), options), InputError);
    EXPECT_EQ(parse_precondition("ict"), Precondition::ict);
    EigenOptions eigen;
    eigen.precondition = Precondition::ict;
    EXPECT_THROW(eigenpairs(Cpu{1}, A.view(), eigen), InputError);
}

}  // namespace
}  // namespace kasane::sparse
