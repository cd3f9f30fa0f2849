// Methods that are asked for, their failures, and eigenvalues on the workers of one process.
#include <test/sparse/distributed/distributed_methods.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <test/sparse/aggregation/elasticity.hpp>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

constexpr int numbers_of_workers[] = {1, 2, 3, 4, 8};

TEST(DistributedMethods, FindTheSolutionOfOneWorker) {
    for (const int count : numbers_of_workers) on_workers(count, [](auto& workers, const auto& here) { expect_methods(workers, here); });
}

TEST(DistributedMethods, TakeTheIterationsOfTheAutomaticChoice) {
    for (const auto& A : {box_matrix({5, 4, 14}), convection(12, 0.05, 1, -2)})
        for (const int count : {2, 5})
            on_workers(count, [&](auto& workers, const auto& here) {
                const auto b = waves(A.rows());
                std::vector<double> x(b.size(), 0.), same(b.size(), 0.);
                DistributedSolver automatic(workers, here, A.view());
                const auto method = parse_general_method(automatic.setup().iteration);
                const auto log = automatic.solve(view(b), view(x));
                EXPECT_EQ(DistributedSolver(workers, here, A.view(), {.method = method}).solve(view(b), view(same)).iterations,
                          log.iterations);
                EXPECT_EQ(x, same);
            });
}

TEST(DistributedMethods, AZeroDiagonalWhoseRowIsCoupledToOtherWorkersAlone) {
    // [0 B; B^T 0] with B = 3 + a shift: on two workers no row of the lower half is coupled to a row of its own worker.
    constexpr index_t half = 30;
    Entries entries{2 * half, {}};
    for (index_t i = 0; i < half; ++i) {
        entries.at[{i, half + i}] = entries.at[{half + i, i}] = 3;
        if (i > 0) entries.at[{i, half + i - 1}] = entries.at[{half + i - 1, i}] = 1;
    }
    const auto A = entries.matrix();
    for (const int count : numbers_of_workers)
        on_workers(count, [&](auto& workers, const auto& here) {
            const auto b = waves(A.rows());
            std::vector<double> x(b.size(), 0.);
            DistributedSolver solver(workers, here, A.view(), {.precondition = Precondition::jacobi, .method = GeneralMethod::minres});
            EXPECT_TRUE(solver.solve(view(b), view(x)).converged());
            EXPECT_LE(residual_of(A, b, x), 1.01e-8);
        });
}

TEST(DistributedMethods, FailuresHaveTheirNames) {
    // 2 x 2 blocks [d 1; -1 d] with a small d: nearly skew, so that BiCGStab's omega nearly vanishes.
    Entries skew{40, {}}, shift{40, {}};
    for (index_t i = 0; i < 40; i += 2) {
        skew.at[{i, i}] = skew.at[{i + 1, i + 1}] = 1e-15;
        skew.at[{i, i + 1}] = 1, skew.at[{i + 1, i}] = -1;
    }
    // A cyclic shift, on which GMRES gains nothing in fewer than n iterations from the first unit vector.
    for (index_t i = 0; i < 40; ++i) shift.at[{i, i}] = 1e-15, shift.at[{i, (i + 39) % 40}] = 1;
    for (const int count : {1, 2, 4})
        on_workers(count, [&](auto& workers, const auto& here) {
            const auto end = [&](const CsrMatrix& A, const std::vector<double>& b, GeneralMethod method, int restart) {
                DistributedSolver solver(workers, here, A.view(),
                                         {.precondition = Precondition::jacobi, .method = method, .restart = restart});
                std::vector<double> x(b.size(), 0.);
                const auto log = solver.solve(view(b), view(x));
                EXPECT_NEAR(residual_of(A, b, x), log.true_residual, 1e-12);
                return log.end;
            };
            EXPECT_EQ(end(skew.matrix(), waves(40), GeneralMethod::bicgstab, 30), krylov::Outcome::breakdown);
            EXPECT_EQ(end(skew.matrix(), waves(40), GeneralMethod::gmres, 30), krylov::Outcome::converged);
            std::vector<double> unit(40, 0.);
            unit[0] = 1;
            EXPECT_EQ(end(shift.matrix(), unit, GeneralMethod::gmres, 5), krylov::Outcome::stagnated);
            EXPECT_EQ(end(shift.matrix(), unit, GeneralMethod::gmres, 40), krylov::Outcome::converged);
            // Symmetric with a positive diagonal, and indefinite: conjugate gradients are tried where they are asked for.
            const auto indefinite = helmholtz(12, 1.3);
            EXPECT_EQ(end(indefinite, waves(144), GeneralMethod::cg, 30), krylov::Outcome::operator_not_positive);
            EXPECT_EQ(end(indefinite, waves(144), GeneralMethod::minres, 30), krylov::Outcome::converged);
        });
}

TEST(DistributedMethods, RefuseMatricesAndOptionsThatTheyAreNotFor) {
    const auto box = box_matrix({2, 2, 4}), flow = convection(6, 0.05, 1, -2);
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto refused = [&](const CsrMatrix& A, const DistributedOptions& options, const char* word) {
            expect_refused(workers, here, A, options, word);
        };
        refused(flow, {.precondition = Precondition::jacobi, .method = GeneralMethod::minres}, "minres needs a symmetric matrix");
        refused(flow, {.method = GeneralMethod::cg}, "conjugate gradients need");
        refused(box, {.method = GeneralMethod::minres}, "jacobi, or gmres with ic0");
        refused(box, {.overlap = 1, .method = GeneralMethod::cg}, "Leave the overlap out");
        refused(box, {.precondition = Precondition::jacobi, .coarse_rows = 8, .method = GeneralMethod::minres}, "no coarse system");
        refused(box, {.method = GeneralMethod::gmres, .restart = 0}, "1 to 1000");
        refused(saddle_point(20), {.method = GeneralMethod::gmres}, "diagonal entries are zero");
    });
}

TEST(DistributedEigenpairs, AreThoseOfOneWorker) {
    PoissonProblem closed;
    closed.cells = {6, 5, 9};
    closed.source.assign(6 * 5 * 9, 0.);
    for (auto& face : closed.boundary) face = {BoundaryKind::neumann, 0};
    const auto singular = poisson_matrix(closed);
    for (const int count : numbers_of_workers)
        on_workers(count, [&](auto& workers, const auto& here) {
            for (const auto kind : {Precondition::multigrid, Precondition::jacobi, Precondition::ic0})
                for (const int coarse : {0, 64})
                    expect_eigenpairs(workers, here, box_matrix({6, 5, 12}), 4, {.precondition = kind, .coarse_rows = coarse});
            expect_eigenpairs(workers, here, singular, 5, {.precondition = Precondition::multigrid});
            expect_eigenpairs(workers, here, elasticity(2, {9, 6, 0}).A, 3, {.precondition = Precondition::jacobi, .block = 2});
        });
}

TEST(DistributedEigenpairs, ACoarseSystemBoundsTheIterations) {
    const auto A = box_matrix({10, 10, 40});
    on_workers(8, [&](auto& workers, const auto& here) {
        const auto iterations = [&](int coarse) {
            DistributedSolver solver(
                workers, here, A.view(),
                {.precondition = Precondition::multigrid, .coarse_rows = coarse, .method = GeneralMethod::cg, .rtol = 1e-6});
            const auto found = solver.eigenpairs(4);
            EXPECT_TRUE(found.converged());
            return found.iterations;
        };
        EXPECT_LT(iterations(256), iterations(0));
    });
}

TEST(DistributedEigenpairs, StopAndRefuse) {
    const auto A = box_matrix({6, 5, 12});
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto refused = [&](const DistributedOptions& options, int count, const char* word) {
            try {
                DistributedSolver(workers, here, A.view(), options).eigenpairs(count);
                FAIL() << word;
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
        };
        refused({}, 0, "at least one");
        refused({}, 73, "a fifth of the rows");
        refused({.overlap = 1}, 2, "method cg");
        refused({.method = GeneralMethod::gmres}, 2, "method cg");
        DistributedSolver brief(workers, here, A.view(), {.precondition = Precondition::jacobi, .rtol = 1e-9, .iteration_limit = 3});
        const auto few = brief.eigenpairs(2);
        EXPECT_EQ(few.end, krylov::Outcome::iteration_limit);
        EXPECT_EQ(few.values.size(), 2u);
        DistributedSolver patient(workers, here, A.view(), {.precondition = Precondition::jacobi, .rtol = 1e-14});
        EXPECT_EQ(patient.eigenpairs(2, [](int iteration, double) { return iteration >= 4; }).end, krylov::Outcome::stopped);
    });
}

}  // namespace
