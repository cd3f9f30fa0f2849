// The Poisson problem on several workers, compared with PoissonSolver; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>

#include <gtest/gtest.h>
#include <test/sparse/general_systems.hpp>

#include <cmath>
#include <functional>

namespace kasane::sparse {

/// body(solver) on the root rank; the other ranks are in the worker loop.
inline void with_poisson_solver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const PoissonProblem& problem,
                                const PoissonSolverOptions& options, const std::function<void(DistributedPoissonSolver&)>& body) {
    if (workers.ranks().rank() > 0) return distributed_poisson_loop(workers, here);
    DistributedPoissonSolver solver(workers, here, problem, options);
    body(solver);
}

/// A box with jumps of the coefficient and, where `stretched`, flat cells.
inline PoissonProblem box_with_jumps(std::array<index_t, 3> cells, bool stretched) {
    PoissonProblem problem;
    problem.cells = cells;
    if (stretched) problem.spacing[2] = {0.2};
    for (index_t c = 0; c < problem.rows(); ++c) problem.coefficient.push_back(c % 7 == 0 ? 30 : c % 3 == 0 ? 0.1 : 1);
    return problem;
}

/// The grids, iterations and solution of one worker.
inline void expect_poisson_of_one_worker(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here,
                                         const PoissonProblem& problem, const PoissonSolverOptions& options) {
    with_poisson_solver(workers, here, problem, options, [&](DistributedPoissonSolver& solver) {
        const auto what = std::to_string(workers.size()) + " workers";
        PoissonSolver alone(here.front(), problem, options);
        const auto b = test::waves(problem.rows());
        std::vector<double> x(b.size(), 0.), one(b.size(), 0.);
        const auto log = solver.solve(view(b), view(x)), reference = alone.solve(view(b), view(one));
        EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
        EXPECT_EQ(solver.setup().grids, alone.setup().grids) << what;
        EXPECT_NEAR(log.iterations, reference.iterations, 1) << what;
        EXPECT_LE(log.true_residual, options.rtol);
        double error = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            error = std::max(error, std::fabs(x[i] - one[i])), size = std::max(size, std::fabs(one[i]));
        EXPECT_LT(error, 1e4 * options.rtol * size) << what;  // the condition of these systems is below that
        if (!problem.singular()) {
            const auto A = poisson_matrix(problem);
            EXPECT_NEAR(test::residual_of(A, b, x), log.true_residual, 1e-12) << what;
        }
        EXPECT_EQ(solver.solve(view(b), view(x)).iterations, 0) << what;
    });
}

}  // namespace kasane::sparse
