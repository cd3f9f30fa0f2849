// Solves on the workers of one process: every preconditioner, method and number of workers.
#include <test/sparse/distributed/distributed_solver.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/solver.hpp>

#include <limits>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

int iterations_on(int count, const CsrMatrix& A, const DistributedOptions& options) {
    int iterations = 0;
    on_workers(count, [&](auto& workers, const auto& here) { iterations = expect_solution(workers, here, A, options); });
    return iterations;
}

TEST(DistributedSolver, EveryNumberOfWorkersAndPreconditioner) {
    const auto A = box_matrix({7, 6, 16});
    for (const int workers : {1, 2, 3, 4, 7, 8, 16})
        for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid})
            for (const int overlap : {0, 1, 2})
                if (overlap == 0 || precondition != Precondition::jacobi)
                    iterations_on(workers, A, {.precondition = precondition, .overlap = overlap, .rtol = 1e-10});
}

TEST(DistributedSolver, NonsymmetricMatrices) {
    for (const auto& A : {convection(14, 0.05, 1, -2), random_general(120, 5, 4, 3)})
        for (const int workers : {1, 2, 5})
            for (const int overlap : {0, 1, 3}) iterations_on(workers, A, {.overlap = overlap, .rtol = 1e-10});
}

TEST(DistributedSolver, MoreWorkersThanChannels) {
    // Every row is coupled to every other: each worker receives from all others.
    CsrMatrix A;
    A.begin.push_back(0);
    constexpr int n = 40;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) A.column.push_back(j), A.value.push_back(i == j ? n : 1. / (1 + std::abs(i - j)));
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    for (const int workers : {9, 16}) iterations_on(workers, A, {.rtol = 1e-11});
}

TEST(DistributedSolver, OneWorkerIsIccgAndOverlapMakesUpForMoreWorkers) {
    const auto A = box_matrix({12, 12, 24});
    SolverOptions natural;
    natural.ordering = Ordering::parse("natural");
    natural.tune = Tuning::off;
    Solver alone(Cpu{1}, A.view(), natural);
    SolveLog log;
    alone.solve(waves(A.rows()), &log);
    EXPECT_NEAR(iterations_on(1, A, {}), log.iterations, 1);
    EXPECT_GT(iterations_on(8, A, {.coarse_rows = 0}), log.iterations);
    // An iteration of BiCGStab has two products: 2 x 20 against 58 on eight workers, and 2 x 13 with three layers.
    const auto longer = box_matrix({16, 16, 64});
    const auto with_layers = [&](int layers) {
        return iterations_on(8, longer, {.precondition = Precondition::multigrid, .overlap = layers, .coarse_rows = 0});
    };
    EXPECT_LT(2 * with_layers(1), with_layers(0));
    EXPECT_LT(with_layers(3), with_layers(1));
}

TEST(DistributedSolver, ACoarseSystemBoundsTheIterations) {
    const auto A = box_matrix({16, 16, 64});
    for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid}) {
        const auto iterations = [&](int workers, int rows) {
            return iterations_on(workers, A, {.precondition = precondition, .coarse_rows = rows, .rtol = 1e-10});
        };
        const int alone = iterations(8, 0), joined = iterations(8, 256);
        EXPECT_LT(2 * joined, alone);
        EXPECT_LT(iterations(8, 256), iterations(8, 8));
        EXPECT_LE(iterations(16, 256), 1.6 * iterations(2, 256));
    }
    // It joins subdomains with layers as well.
    const auto with_layers = [&](int rows) {
        return iterations_on(8, A, {.precondition = Precondition::multigrid, .overlap = 1, .coarse_rows = rows});
    };
    EXPECT_LT(with_layers(256), with_layers(0));
}

TEST(DistributedSolver, ACoarseSystemIsForPositiveDefiniteMatricesOfSeveralWorkers) {
    const auto rows_of = [](int count, const CsrMatrix& A, int rows) {
        std::string precondition;
        on_workers(count, [&](auto& workers, const auto& here) {
            precondition = DistributedSolver(workers, here, A.view(), {.coarse_rows = rows}).setup().precondition;
        });
        return precondition;
    };
    EXPECT_EQ(rows_of(1, box_matrix({8, 8, 8}), 64), "ic0");
    EXPECT_EQ(rows_of(2, box_matrix({8, 8, 8}), 0), "ic0");
    EXPECT_EQ(rows_of(2, box_matrix({1, 1, 4}), 64), "ic0 and a coarse system of 2 rows");
    EXPECT_EQ(rows_of(2, convection(14, 0.05, 1, -2), 64), "ilu0");
    // Symmetric with a positive diagonal, and indefinite: the coarse matrix is not positive definite.
    EXPECT_EQ(rows_of(3, helmholtz(12, 1.3), 64).find("coarse"), std::string::npos);
}

TEST(DistributedSolver, SingularSystemsHaveTheMeanFreeSolution) {
    auto A = box_matrix({5, 5, 8});
    for (index_t row = 0; row < A.rows(); ++row) {  // without phi = 0 on z_max, rows sum to zero
        double sum = 0;
        for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e)
            sum += A.value[static_cast<std::size_t>(e)];
        for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] == row) A.value[static_cast<std::size_t>(e)] -= sum;
    }
    auto b = waves(A.rows());
    double mean = 0;
    for (const double one : b) mean += one / static_cast<double>(b.size());
    on_workers(3, [&](auto& workers, const auto& here) {
        DistributedSolver solver(workers, here, A.view(), {});
        EXPECT_TRUE(solver.setup().singular);
        std::vector<double> x(b.size(), 3.);
        const auto refused = solver.solve(view(b), view(x));
        EXPECT_GT(refused.outside_range, 0);
        EXPECT_FALSE(refused.converged());
        for (double& one : b) one -= mean;
        const auto log = solver.solve(view(b), view(x));
        EXPECT_TRUE(log.converged());
        EXPECT_LE(residual_of(A, b, x), 1.01e-8);
        double sum = 0;
        for (const double one : x) sum += one;
        EXPECT_NEAR(sum, 0, 1e-9);
    });
}

TEST(DistributedSolver, StopsAndFailuresAreReported) {
    const auto A = box_matrix({10, 10, 20});
    on_workers(4, [&](auto& workers, const auto& here) {
        const auto b = waves(A.rows());
        std::vector<double> x(b.size(), 0.);
        DistributedSolver solver(workers, here, A.view(), {.precondition = Precondition::jacobi, .iteration_limit = 5});
        EXPECT_EQ(solver.solve(view(b), view(x)).end, krylov::Outcome::iteration_limit);
        DistributedSolver patient(workers, here, A.view(), {.precondition = Precondition::jacobi, .rtol = 1e-14});
        const auto log = patient.solve(view(b), view(x), [](int iteration, double) { return iteration >= 10; });
        EXPECT_EQ(log.end, krylov::Outcome::stopped);
        EXPECT_GE(log.iterations, 10);
        EXPECT_LE(log.iterations, 24);
    });
    // Symmetric with a positive diagonal, and indefinite.
    const auto indefinite = helmholtz(12, 1.3);
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto b = waves(indefinite.rows());
        std::vector<double> x(b.size(), 0.);
        DistributedSolver solver(workers, here, indefinite.view(), {.precondition = Precondition::jacobi});
        const auto log = solver.solve(view(b), view(x));
        if (log.converged())
            EXPECT_LE(residual_of(indefinite, b, x), 1.01e-8);
        else
            EXPECT_EQ(log.end, krylov::Outcome::operator_not_positive);
    });
}

TEST(DistributedSolver, RefusesBadInput) {
    const auto A = box_matrix({2, 2, 2});
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto refused = [&](const CsrMatrix& matrix, const DistributedOptions& options, const char* word) {
            expect_refused(workers, here, matrix, options, word);
        };
        refused(A, {.precondition = Precondition::ssor}, "jacobi, ic0 and multigrid");
        refused(A, {.overlap = 9}, "0 to 8");
        refused(A, {.overlap = -1}, "0 to 8");
        refused(A, {.precondition = Precondition::jacobi, .overlap = 1}, "leave the overlap out");
        refused(A, {.coarse_rows = -1}, "0 to 4096");
        refused(A, {.rtol = 0}, "rtol");
        refused(A, {.iteration_limit = 0}, "iteration_limit");
        refused(box_matrix({1, 1, 2}), {}, "take at most 2");
        refused(saddle_point(20), {}, "diagonal entries are zero");
        auto nan = A;
        nan.value[3] = std::numeric_limits<double>::quiet_NaN();
        refused(nan, {}, "is nan");
        DistributedSolver solver(workers, here, A.view());
        std::vector<double> b(8, 1.), x(8, 0.), shorter(7, 0.);
        EXPECT_THROW(solver.solve(view(b), view(shorter)), LogicError);
        b[2] = std::numeric_limits<double>::infinity();
        EXPECT_THROW(solver.solve(view(b), view(x)), InputError);
        b[2] = 1;
        EXPECT_TRUE(solver.solve(view(b), view(x)).converged());
    });
}

}  // namespace
