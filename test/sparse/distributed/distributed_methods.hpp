// Methods that are asked for, and eigenvalues, on several workers, compared with one; for tests of one process and of ranks.
#pragma once

#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/solver.hpp>

#include <test/sparse/distributed/distributed_solver.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace kasane::sparse {

struct MethodCase {
    CsrMatrix A;
    DistributedOptions options;
};

/// Every method with the preconditioners that it has, on matrices of all kinds.
inline std::vector<MethodCase> method_cases() {
    using enum GeneralMethod;
    constexpr auto jacobi = Precondition::jacobi, ic0 = Precondition::ic0, multigrid = Precondition::multigrid;
    const auto box = box_matrix({5, 4, 14});
    const auto flow = test::convection(12, 0.05, 1, -2), dense = test::random_general(120, 5, 4, 3);
    const auto indefinite = test::helmholtz(11, 0.7);
    std::vector<MethodCase> all;
    for (const auto kind : {jacobi, ic0, multigrid}) all.push_back({box, {.precondition = kind, .method = cg}});
    for (const auto method : {bicgstab, gmres}) {
        for (const auto kind : {jacobi, ic0, multigrid}) all.push_back({box, {.precondition = kind, .method = method}});
        for (const auto& A : {flow, dense})
            for (const auto kind : {jacobi, ic0}) all.push_back({A, {.precondition = kind, .method = method}});
        for (const int overlap : {1, 2}) all.push_back({flow, {.overlap = overlap, .method = method}});
        all.push_back({box, {.precondition = multigrid, .overlap = 1, .method = method}});
    }
    all.push_back({flow, {.method = gmres, .restart = 5}});
    all.push_back({indefinite, {.method = gmres, .restart = 60}});
    for (const auto& A : {box, indefinite, test::saddle_point(60)}) all.push_back({A, {.precondition = jacobi, .method = minres}});
    for (auto& [A, options] : all) options.rtol = 1e-10;
    return all;
}

/// Each converges, by the method that was asked for, to the solution of one worker.
inline void expect_methods(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    for (const auto& [A, options] : method_cases()) {
        with_distributed_solver(workers, here, A, options, [&](DistributedSolver& solver) {
            const auto what = std::to_string(workers.size()) + " workers, " + name(options.method) + ", " + solver.setup().precondition;
            EXPECT_EQ(solver.setup().iteration, name(options.method)) << what;
            const auto [x, iterations] = expect_solution_of(solver, A, options, what);
            const auto b = test::waves(A.rows());
            const bool by_cg = options.method == GeneralMethod::cg;
            GeneralOptions alone{.method = by_cg ? GeneralMethod::automatic : options.method, .rtol = 1e-12};
            if (options.precondition == Precondition::jacobi) alone.precondition = GeneralPrecondition::jacobi;
            SolveLog of_one;
            SolverOptions strict;
            strict.rtol = 1e-12;
            const auto reference =
                by_cg ? Solver(Cpu{1}, A.view(), strict).solve(b) : GeneralSolver(Cpu{1}, A.view(), alone).solve(b, &of_one);
            double error = 0, size = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                error = std::max(error, std::fabs(x[i] - reference[i]));
                size = std::max(size, std::fabs(reference[i]));
            }
            EXPECT_LE(error, 1e-6 * size) << what;
            // MINRES has the diagonal of whole rows, and so the iterations of one worker, whose tolerance is smaller here.
            if (options.method == GeneralMethod::minres) {
                EXPECT_LE(iterations, of_one.iterations + 2) << what;
            }
        });
    }
}

/// ||A x - value x|| in the host's own product.
inline double residual_of_pair(const CsrMatrix& A, const std::vector<double>& x, double value) {
    const auto Ax = test::product(A, x);
    double r2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i) r2 += (Ax[i] - value * x[i]) * (Ax[i] - value * x[i]);
    return std::sqrt(r2);
}

/// The pairs of one worker to the tolerance, orthonormal, with residuals that are computed here.
inline void expect_eigenpairs(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrMatrix& A, int count,
                              DistributedOptions options) {
    options.method = GeneralMethod::cg;
    options.rtol = 1e-7;
    with_distributed_solver(workers, here, A, options, [&](DistributedSolver& solver) {
        const auto what = std::to_string(workers.size()) + " workers, " + solver.setup().precondition;
        const auto found = solver.eigenpairs(count);
        const auto alone = eigenpairs(Cpu{1}, A.view(), {.count = count, .rtol = options.rtol, .iteration_limit = 2000, .near_null = {}});
        ASSERT_EQ(found.end, krylov::Outcome::converged) << what;
        ASSERT_EQ(std::ssize(found.values), count) << what;
        ASSERT_EQ(std::ssize(found.vectors), count) << what;
        const double bound = options.rtol * alone.values.back();
        for (std::size_t j = 0; j < found.values.size(); ++j) {
            EXPECT_NEAR(found.values[j], alone.values[j], bound) << what;
            const double residual = residual_of_pair(A, found.vectors[j], found.values[j]);
            EXPECT_LE(residual, 1.01 * bound) << what;
            EXPECT_NEAR(residual, found.residuals[j], 0.01 * bound) << what;
            for (std::size_t k = 0; k <= j; ++k) {
                double product = 0;
                for (std::size_t i = 0; i < found.vectors[j].size(); ++i) product += found.vectors[j][i] * found.vectors[k][i];
                EXPECT_NEAR(product, j == k ? 1 : 0, 1e-8) << what;
            }
        }
        // The solver is as it was.
        const auto b = test::waves(A.rows());
        std::vector<double> x(b.size(), 0.);
        if (!solver.setup().singular) {
            EXPECT_TRUE(solver.solve(view(b), view(x)).converged()) << what;
        }
    });
}

}  // namespace kasane::sparse
