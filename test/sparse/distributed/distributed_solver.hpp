// Solves on several workers, compared with the solution of one; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/distributed/distributed_solver.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <gtest/gtest.h>
#include <test/sparse/box.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>
#include <functional>
#include <string>

namespace kasane::sparse {

/// body(solver) on the root rank; the other ranks are in the worker loop.
inline void with_distributed_solver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrMatrix& A,
                                    const DistributedOptions& options, const std::function<void(DistributedSolver&)>& body) {
    if (workers.ranks().rank() > 0) return distributed_solver_loop(workers, here);
    DistributedSolver solver(workers, here, A.view(), options);
    body(solver);
}

/// What a solver found for waves(): of the right-hand side as it is.
struct FoundSolution {
    std::vector<double> x;
    int iterations = 0;
};

/// Converged to the tolerance, by its own residual and by one computed here, for right-hand sides of two sizes.
inline FoundSolution expect_solution_of(DistributedSolver& solver, const CsrMatrix& A, const DistributedOptions& options,
                                        const std::string& what) {
    FoundSolution found;
    for (const double scale : {1e-3, 1.}) {
        auto b = test::waves(A.rows());
        for (double& one : b) one *= scale;
        std::vector<double> x(b.size(), 0.);
        const auto log = solver.solve(view(b), view(x));
        EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
        EXPECT_LE(log.true_residual, options.rtol) << what;
        EXPECT_NEAR(test::residual_of(A, b, x), log.true_residual, 1e-12) << what;
        EXPECT_EQ(log.history.size(), static_cast<std::size_t>(log.iterations) + 1) << what;
        found = {x, log.iterations};
        // From the solution, nothing is left to do.
        EXPECT_EQ(solver.solve(view(b), view(x)).iterations, 0) << what;
    }
    return found;
}

/// @return the iterations; 0 on other ranks
inline int expect_solution(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrMatrix& A,
                           const DistributedOptions& options) {
    int iterations = 0;
    with_distributed_solver(workers, here, A, options, [&](DistributedSolver& solver) {
        const auto what = std::to_string(workers.size()) + " workers, " + solver.setup().precondition + ", " + solver.setup().iteration;
        iterations = expect_solution_of(solver, A, options, what).iterations;
    });
    return iterations;
}

/// There is no solver for these, and the message has the word.
inline void expect_refused(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrMatrix& A,
                           const DistributedOptions& options, const char* word) {
    try {
        const DistributedSolver solver(workers, here, A.view(), options);
        FAIL() << word;
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
}

}  // namespace kasane::sparse
