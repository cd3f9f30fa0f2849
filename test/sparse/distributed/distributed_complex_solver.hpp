// Solves of complex systems on several workers, compared with ComplexSolver; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/complex_solver.hpp>
#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <gtest/gtest.h>
#include <test/sparse/complex_systems.hpp>

#include <functional>
#include <string>
#include <utility>

namespace kasane::sparse {

/// body(solver) on the root rank; the other ranks are in the worker loop.
inline void with_complex_solver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const ComplexCsrMatrix& A,
                                const DistributedOptions& options, const std::function<void(DistributedComplexSolver&)>& body) {
    if (workers.ranks().rank() > 0) return distributed_complex_solver_loop(workers, here);
    DistributedComplexSolver solver(workers, here, A.view(), options);
    body(solver);
}

/// The solution of one worker, by a method of that name; the residual is computed here, too.
inline void expect_complex_solution(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const ComplexCsrMatrix& A,
                                    const DistributedOptions& options, const std::string& method) {
    with_complex_solver(workers, here, A, options, [&](DistributedComplexSolver& solver) {
        const auto what = std::to_string(workers.size()) + " workers, " + solver.setup().precondition + ", " + method;
        EXPECT_EQ(solver.setup().iteration, method) << what;
        const auto b = test::complex_waves(A.rows());
        test::Values x(b.size(), 0.);
        const auto log = solver.solve(view(b), view(x));
        EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
        EXPECT_LE(log.true_residual, options.rtol) << what;
        EXPECT_NEAR(test::relative_distance(test::times(A, x), b), log.true_residual, 1e-12) << what;
        EXPECT_EQ(log.history.size(), static_cast<std::size_t>(log.iterations) + 1) << what;
        GeneralOptions alone;
        alone.rtol = options.rtol;
        EXPECT_LE(test::relative_distance(x, ComplexSolver(here.front(), A.view(), alone).solve(b)), 1e3 * options.rtol) << what;
        // From the solution, nothing is left to do.
        EXPECT_EQ(solver.solve(view(b), view(x)).iterations, 0) << what;
    });
}

/// Each system, and the methods without and with overlap.
struct ComplexSystem {
    ComplexCsrMatrix A;
    const char *alone, *with_overlap;
};
inline std::vector<ComplexSystem> complex_systems() {
    return {{test::helmholtz_with_loss(14, {0.9, 0.2}), "bicgstab", "bicgstab"},
            {test::in_magnetic_field(15, 0.31, 0.2), "cg", "bicgstab"},
            {test::without_symmetry(190), "bicgstab", "bicgstab"}};
}

inline void expect_complex_solutions(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    for (const auto& [A, alone, with_overlap] : complex_systems()) {
        for (const auto precondition : {Precondition::jacobi, Precondition::ic0})
            expect_complex_solution(workers, here, A, {.precondition = precondition, .rtol = 1e-10}, alone);
        for (const int overlap : {1, 2}) expect_complex_solution(workers, here, A, {.overlap = overlap, .rtol = 1e-10}, with_overlap);
        constexpr auto gmres = GeneralMethod::gmres;
        for (const auto precondition : {Precondition::jacobi, Precondition::ic0})
            expect_complex_solution(workers, here, A, {.precondition = precondition, .method = gmres, .restart = 60, .rtol = 1e-10},
                                    "gmres");
        expect_complex_solution(workers, here, A, {.overlap = 1, .method = gmres, .rtol = 1e-10}, "gmres");
    }
}

}  // namespace kasane::sparse
