// The Poisson problem on several workers, compared with PoissonSolver; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>

#include <gtest/gtest.h>
#include <test/sparse/general_systems.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>

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

/// Tensors that turn from cell to cell in a box of uneven widths, with Robin, Neumann and Dirichlet faces. Eigenvalues with all
/// components: 1 and 5.
/// @param given   components that couple directions, by their numbers in tensor_names; the others are left out
/// @param around  bit d: direction d is periodic   @param closed  no face holds the potential
inline PoissonProblem box_of_tensors(std::array<index_t, 3> cells, std::initializer_list<std::size_t> given = {1, 2, 4},
                                     unsigned around = 0, bool closed = false) {
    PoissonProblem problem;
    problem.cells = cells;
    for (std::size_t d = 0; d < 3; ++d) {
        problem.spacing[d].clear();
        for (index_t i = 0; i < cells[d]; ++i)
            problem.spacing[d].push_back(0.3 + 0.1 * std::sin(2.3 * static_cast<double>(i) + static_cast<double>(d)));
    }
    problem.boundary[0] = {BoundaryKind::robin, 2, 0.7};
    problem.boundary[3] = {BoundaryKind::neumann, -0.5};
    if (closed) problem.boundary = {};
    for (std::size_t d = 0; d < 3; ++d)
        if (around >> d & 1) problem.boundary[2 * d].kind = problem.boundary[2 * d + 1].kind = BoundaryKind::periodic;
    constexpr std::size_t first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
    for (std::size_t c = 0; c < 6; ++c) {
        const bool diagonal = first[c] == second[c];
        if (!diagonal && std::ranges::find(given, c) == given.end()) continue;
        for (index_t row = 0; row < problem.rows(); ++row) {
            const double angle = 0.4 * static_cast<double>(row % 11) + 0.01 * static_cast<double>(row);
            const double axis[3] = {std::cos(angle), std::sin(angle), std::cos(2 * angle)};
            double square = 0;
            for (const double one : axis) square += one * one;
            problem.tensor[c].push_back((diagonal ? 1 : 0) + 4 * axis[first[c]] * axis[second[c]] / square);
        }
    }
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
        const auto count = static_cast<std::uint64_t>(workers.size());
        EXPECT_LT(solver.setup().bytes,
                  count == 1 ? poisson_solver_memory(problem) : count * distributed_poisson_memory(problem, workers.size()))
            << what;
        EXPECT_NEAR(log.iterations, reference.iterations, 1) << what;
        EXPECT_LE(log.true_residual, options.rtol);
        double error = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            error = std::max(error, std::fabs(x[i] - one[i])), size = std::max(size, std::fabs(one[i]));
        EXPECT_LT(error, 1e4 * options.rtol * size) << what;  // the condition of these systems is below that
        auto solvable = b;
        if (problem.singular())
            for (double& value : solvable) value -= log.mean_removed;
        EXPECT_NEAR(test::residual_of(poisson_matrix(problem), solvable, x), log.true_residual, 1e-12) << what;
        EXPECT_EQ(solver.solve(view(b), view(x)).iterations, 0) << what;
    });
}

}  // namespace kasane::sparse
