// Geometric multigrid on the workers of one process: the grids and solutions of one worker; what is refused.
#include <test/sparse/distributed/distributed_poisson_solver.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/distributed/box_part.hpp>

#include <algorithm>
#include <limits>

namespace {

using namespace kasane;
using namespace kasane::sparse;

TEST(Slabs, AreEvenAndAboutAsLarge) {
    EXPECT_EQ(slabs_of(512, 2), (std::vector<std::int32_t>{0, 256, 512}));
    EXPECT_EQ(slabs_of(64, 4), (std::vector<std::int32_t>{0, 16, 32, 48, 64}));
    EXPECT_EQ(slabs_of(7, 1), (std::vector<std::int32_t>{0, 7}));
    for (const auto& [planes, workers] : {std::pair{100, 3}, {37, 5}, {9, 4}, {1000, 7}, {16, 8}}) {
        const auto begin = slabs_of(planes, workers);
        ASSERT_EQ(begin.size(), static_cast<std::size_t>(workers) + 1);
        EXPECT_EQ(begin.back(), planes);
        for (std::size_t w = 0; w + 1 < begin.size(); ++w) {
            EXPECT_EQ(begin[w] % 2, 0);
            EXPECT_GE(begin[w + 1] - begin[w], 1) << planes << " planes, " << workers << " workers";
            EXPECT_LE(begin[w + 1] - begin[w], planes / workers + 2);
        }
    }
    EXPECT_THROW(slabs_of(7, 4), InputError);
}

TEST(DistributedPoisson, HasTheSolutionOfOneWorker) {
    for (const int workers : {1, 2, 3, 4, 7}) {
        on_workers(workers, [](auto& all, const auto& here) {
            expect_poisson_of_one_worker(all, here, box_with_jumps({9, 8, 21}, false), {.rtol = 1e-10});
            expect_poisson_of_one_worker(all, here, box_with_jumps({6, 7, 16}, true), {.rtol = 1e-10});
        });
    }
}

TEST(DistributedPoisson, DividesSeveralGrids) {
    // 2^18 cells and more are divided: 128 x 128 x 64 and 64 x 64 x 64.
    auto problem = box_with_jumps({128, 128, 64}, true);
    on_workers(2, [&](auto& all, const auto& here) { expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-8}); });
    // Slabs of 11 planes of the second grid would cut its cells, so each worker has it whole.
    on_workers(3, [&](auto& all, const auto& here) { expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-8}); });
    on_workers(4, [&](auto& all, const auto& here) { expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-8}); });
}

PoissonProblem periodic_box_with_jumps(std::array<index_t, 3> cells, unsigned directions) {
    auto problem = box_with_jumps(cells, false);
    for (std::size_t d = 0; d < 3; ++d)
        if (directions >> d & 1) problem.boundary[2 * d].kind = problem.boundary[2 * d + 1].kind = BoundaryKind::periodic;
    return problem;
}

TEST(DistributedPoisson, TheFirstAndTheLastWorkerAreNeighboursWhereZIsPeriodic) {
    auto held = periodic_box_with_jumps({8, 9, 16}, 5);
    held.boundary[2] = {BoundaryKind::dirichlet, 1};
    for (const int workers : {1, 2, 3, 4, 7})
        on_workers(workers, [&](auto& all, const auto& here) {
            expect_poisson_of_one_worker(all, here, held, {.rtol = 1e-10});
            expect_poisson_of_one_worker(all, here, periodic_box_with_jumps({6, 10, 14}, 7), {.rtol = 1e-10});
        });
    on_workers(2, [&](auto& all, const auto& here) {
        expect_poisson_of_one_worker(all, here, periodic_box_with_jumps({4, 6, 4}, 7), {.rtol = 1e-10});
    });
}

TEST(DistributedPoisson, DividesSeveralPeriodicGrids) {
    const auto solve = [](int workers, index_t planes) {
        on_workers(workers, [&](auto& all, const auto& here) {
            expect_poisson_of_one_worker(all, here, periodic_box_with_jumps({128, 128, planes}, 7), {.rtol = 1e-5});
        });
    };
    solve(3, 64);
    solve(2, 66);  // a pair of planes is divided
}

TEST(DistributedPoisson, SingularProblemsHaveNoMean) {
    PoissonProblem problem;
    problem.cells = {8, 9, 12};
    problem.boundary[5] = {};
    on_workers(3, [&](auto& all, const auto& here) { expect_poisson_of_one_worker(all, here, problem, {.rtol = 1e-9}); });
}

TEST(DistributedPoisson, StopsAndTakesOtherTolerances) {
    const auto problem = box_with_jumps({12, 12, 24}, false);
    on_workers(2, [&](auto& all, const auto& here) {
        DistributedPoissonSolver solver(all, here, problem);
        const auto b = test::waves(problem.rows());
        std::vector<double> x(b.size(), 0.);
        solver.set_tolerance(1e-4, 100);
        EXPECT_LE(solver.solve(view(b), view(x)).true_residual, 1e-4);
        solver.set_tolerance(1e-12, 1);
        const auto stopped = solver.solve(view(b), view(x));
        EXPECT_EQ(stopped.end, krylov::Outcome::iteration_limit);
        EXPECT_EQ(stopped.iterations, 1);
        solver.set_tolerance(1e-12, 100);
        EXPECT_EQ(solver.solve(view(b), view(x), [](int, double) { return true; }).end, krylov::Outcome::stopped);
        EXPECT_TRUE(solver.solve(view(b), view(x)).converged());
        EXPECT_THROW(solver.set_tolerance(0, 5), InputError);
    });
}

TEST(DistributedPoisson, RefusesBadInput) {
    on_workers(4, [&](auto& all, const auto& here) {
        PoissonProblem problem;
        problem.cells = {8, 8, 7};
        EXPECT_THROW(DistributedPoissonSolver(all, here, problem), InputError);
        problem.cells = {7, 8, 8};
        problem.boundary[0].kind = problem.boundary[1].kind = BoundaryKind::periodic;
        EXPECT_THROW(DistributedPoissonSolver(all, here, problem), InputError);
        problem.boundary[0] = problem.boundary[1] = {};
        problem.cells = {8, 8, 8};
        problem.tensor = {{{2.}, {2.}, {}, {2.}, {}, {1.}}};
        EXPECT_THROW(DistributedPoissonSolver(all, here, problem), InputError);
        problem.tensor[1] = {1.};
        expect_poisson_of_one_worker(all, here, problem, {});
        problem.tensor = {};
        EXPECT_THROW(DistributedPoissonSolver(all, here, problem, {.rtol = 2}), InputError);
        DistributedPoissonSolver solver(all, here, problem);
        std::vector<double> b(512, 1.), x(512, 0.), shorter(511, 0.);
        EXPECT_THROW(solver.solve(view(b), view(shorter)), LogicError);
        b[7] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_THROW(solver.solve(view(b), view(x)), InputError);
        b[7] = 1;
        EXPECT_TRUE(solver.solve(view(b), view(x)).converged());
    });
}

}  // namespace
