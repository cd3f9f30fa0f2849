// The sparse approximate inverse: exact where its pattern allows it, the least squares of its rows elsewhere, and as a preconditioner.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/precondition/sparse_inverse.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_lu.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>

namespace kasane::sparse {
namespace {

using namespace kasane::sparse::test;

TEST(SparseInverse, IsExactWhereThePatternIsFull) {
    Entries full{12, {}};
    RandomStream random(4, 1);
    for (index_t i = 0; i < full.n; ++i)
        for (index_t j = 0; j < full.n; ++j) full.at[{i, j}] = 2 * random.uniform() - 1 + (i == j ? 3 : 0);
    const CsrMatrix A = full.matrix();
    CsrMatrix M = A;
    M.value = sparse_inverse(A.view(), Cpu{2});
    const auto b = waves(12), exact = reference::lu_solve(A, b), x = product(M, b);
    // The condition number is below 10, and normal equations square it.
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], exact[i], 1e-12);
    const CsrMatrix diagonal = Entries{3, {{{0, 0}, 2}, {{1, 1}, -0.25}, {{2, 2}, 1e200}}}.matrix();
    EXPECT_EQ(sparse_inverse(diagonal.view(), Cpu{1}), (std::vector<double>{0.5, -4, 1e-200}));
}

TEST(SparseInverse, RowsAreLeastSquares) {
    for (const auto& A : {convection(9, 0.02, 1, -0.5), random_general(90, 6, 4, 11), helmholtz(9, 1.3)}) {
        CsrMatrix M = A;
        M.value = sparse_inverse(A.view(), Cpu{1});
        for (const int threads : {2, 5}) EXPECT_EQ(sparse_inverse(A.view(), Cpu{threads}), M.value);
        const auto n = static_cast<std::size_t>(A.rows());
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<double> r(n, 0.);
            r[i] = 1;
            double before = 1, after = 0;
            const auto each = [&](std::size_t row, const auto& visit) {
                for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
                    visit(static_cast<std::size_t>(A.column[e]), A.value[e], e);
            };
            each(i, [&](std::size_t k, double, std::size_t place) {
                each(k, [&](std::size_t j, double value, std::size_t) { r[j] -= M.value[place] * value; });
            });
            for (const double one : r) after += one * one;
            EXPECT_LE(after, before);
            // No entry of the row can make it smaller: the residual is orthogonal to the rows of A that the pattern has.
            each(i, [&](std::size_t k, double, std::size_t) {
                double dot = 0, size = 0;
                each(k, [&](std::size_t j, double value, std::size_t) { dot += r[j] * value, size += value * value; });
                EXPECT_NEAR(dot, 0, 1e-11 * std::sqrt(size)) << i << ", " << k;
            });
        }
    }
}

TEST(SparseInverse, SolvesInFewerIterationsThanJacobi) {
    const CsrMatrix A = convection(60, 0.05, 1, -1);
    const auto b = waves(A.rows());
    std::vector<AnySpace> spaces{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) spaces.push_back(best_space());
    for (const auto& on : spaces)
        for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres, GeneralMethod::automatic}) {
            const auto iterations = [&](GeneralPrecondition kind) {
                GeneralSolver solver(on, A.view(), {.method = method, .precondition = kind});
                SolveLog log;
                const auto x = solver.solve(b, &log);
                EXPECT_TRUE(log.converged());
                EXPECT_LE(residual_of(A, b, x), 1e-8 * (1 + 1e-6));
                EXPECT_EQ(solver.setup().precondition, name(kind));
                return log.iterations;
            };
            EXPECT_LT(iterations(GeneralPrecondition::spai), 0.8 * iterations(GeneralPrecondition::jacobi)) << name(method);
        }
    GeneralSolver updated(Cpu{1}, A.view(), {.precondition = GeneralPrecondition::spai});
    const CsrMatrix C = convection(60, 0.5, 1, -1);
    updated.update(C.view());
    EXPECT_EQ(updated.solve(b), GeneralSolver(Cpu{1}, C.view(), {.precondition = GeneralPrecondition::spai}).solve(b));
}

TEST(SparseInverse, LongRowsAndMinresAreRefused) {
    Entries arrow{600, {}};
    for (index_t i = 0; i < arrow.n; ++i) arrow.at[{i, i}] = 700, arrow.at[{0, i}] = 1;
    EXPECT_THROW(sparse_inverse(arrow.matrix().view(), Cpu{1}), InputError);
    EXPECT_THROW(GeneralSolver(Cpu{1}, arrow.matrix().view(), {.precondition = GeneralPrecondition::spai}), InputError);
    EXPECT_THROW(
        GeneralSolver(Cpu{1}, helmholtz(5, 0.1).view(), {.method = GeneralMethod::minres, .precondition = GeneralPrecondition::spai}),
        InputError);
    // Two equal rows: the second unknown is left out, and nothing is divided by zero.
    const CsrMatrix twice = Entries{2, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}}}.matrix();
    for (const double one : sparse_inverse(twice.view(), Cpu{1})) EXPECT_TRUE(std::isfinite(one));
}

}  // namespace
}  // namespace kasane::sparse
