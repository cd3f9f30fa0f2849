// Solves of complex systems on several workers, compared with ComplexSolver; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/complex_solver.hpp>
#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_complex_lu.hpp>
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

/// With and without a coarse system, each preconditioner and method, and overlap, of a Hermitian matrix with a jump of its coefficient.
inline void expect_complex_solutions_with_jump(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    const auto A = test::in_magnetic_field_with_jump(9, 40, 0.02, 1000);
    for (const int coarse : {0, 24})
        for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid}) {
            DistributedOptions options{.precondition = precondition, .coarse_rows = coarse, .rtol = 1e-10};
            expect_complex_solution(workers, here, A, options, "cg");
            options.method = GeneralMethod::gmres, options.restart = 100;
            expect_complex_solution(workers, here, A, options, "gmres");
            options.method = GeneralMethod::bicgstab, options.overlap = precondition == Precondition::jacobi ? 0 : 1;
            expect_complex_solution(workers, here, A, options, "bicgstab");
        }
}

/// Systems whose rows and columns have many sizes: the solution of elimination, and about the iterations of the system without these sizes.
inline void expect_solutions_of_many_sizes(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    for (const auto& [A, alone, with_overlap] : complex_systems()) {
        const auto b = test::complex_waves(A.rows());
        const auto reference = workers.ranks().rank() == 0 ? reference::complex_lu_solve(A, b) : b;
        for (const int overlap : {0, 1})
            for (const auto method : {GeneralMethod::automatic, GeneralMethod::gmres}) {
                if (overlap > 0 && method == GeneralMethod::gmres) continue;
                const bool hermitian = std::string(alone) == "cg";
                const auto sized = test::of_many_sizes(A, 24, hermitian);
                const DistributedOptions options{.overlap = overlap, .method = method, .restart = 60, .rtol = 1e-10};
                const auto what = std::string(alone) + ", overlap " + std::to_string(overlap) + ", " + name(method);
                int plain = 0;
                with_complex_solver(workers, here, A, options, [&](DistributedComplexSolver& solver) {
                    test::Values x(b.size(), 0.);
                    plain = solver.solve(view(b), view(x)).iterations;
                    EXPECT_EQ(std::ssize(solver.setup().notes), workers.size() > 1 ? 1 : 0) << what;  // none of scales
                });
                with_complex_solver(workers, here, sized.A, options, [&](DistributedComplexSolver& solver) {
                    EXPECT_NE(solver.setup().notes.back().find("scaled by powers of two"), std::string::npos)
                        << solver.setup().notes.back();
                    test::Values right = b, x(b.size(), 0.);
                    for (std::size_t i = 0; i < right.size(); ++i) right[i] *= sized.row[i];
                    const auto log = solver.solve(view(right), view(x));
                    EXPECT_TRUE(log.converged()) << what;
                    EXPECT_LE(log.true_residual, options.rtol) << what;
                    EXPECT_NEAR(test::relative_distance(test::times(sized.A, x), right), log.true_residual, 1e-12) << what;
                    EXPECT_EQ(log.history.size(), static_cast<std::size_t>(log.iterations) + 1) << what;
                    EXPECT_LE(log.iterations, 3 * plain / 2 + 5) << what;
                    const auto again = solver.solve(view(right), view(x));
                    EXPECT_TRUE(again.converged() && again.iterations == 0) << what;
                    auto in_sizes_of_A = x;
                    for (std::size_t i = 0; i < x.size(); ++i) in_sizes_of_A[i] *= sized.column[i];
                    EXPECT_LE(test::relative_distance(in_sizes_of_A, reference), 1e-7) << what;
                    // Right-hand sides near the ends of the range of doubles; a guess outside of it.
                    for (const double size : {0x1p-980, 0x1p+980}) {
                        auto small = right;
                        for (auto& one : small) one *= size;
                        test::Values y(b.size(), 1e300);
                        EXPECT_TRUE(solver.solve(view(small), view(y)).converged()) << what;
                        for (auto& one : y) one /= size;
                        EXPECT_LE(test::relative_distance(test::times(sized.A, y), right), 1.01 * options.rtol) << what;
                    }
                    test::Values zero(b.size(), 0.), z(b.size(), 1.);
                    EXPECT_EQ(solver.solve(view(zero), view(z)).iterations, 0) << what;
                    EXPECT_EQ(z, zero) << what;
                });
            }
    }
}

}  // namespace kasane::sparse
