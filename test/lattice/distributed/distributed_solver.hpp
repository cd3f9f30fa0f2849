// Solves of many workers against the textbook operator and one device: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <utility>

namespace kasane::lattice {

constexpr double rough_links = 0.4;

/// body(solver) on the root rank; the other ranks are in the worker loop.
inline void with_distributed_solver(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const GaugeField& u,
                                    const GridShape& shape, const DiracParameters& parameters, const SolverOptions& options,
                                    const std::function<void(DistributedSolver&)>& body) {
    if (communicator.ranks().rank() > 0) return solver_worker_loop(communicator, here);
    DistributedSolver solver(communicator, here, RankGrid::given(u.extents, communicator.size(), shape), u, parameters, options);
    body(solver);
}

/// Inexact deflation with blocks that divide every local lattice.
inline SolverOptions small_blocks(Precision inner) {
    SolverOptions options{.method = Method::gcr, .inner = inner};
    options.coherent = {.vectors = 3, .block = {2, 2, 2, 2}, .relaxation_steps = 5, .rounds = 1, .smoother_steps = 4};
    return options;
}

/// | b - D x | / | b | with the textbook operator.
inline double textbook_residual(const GaugeField& u, const DiracParameters& p, const SpinorField& b, const SpinorField& x) {
    const reference::WilsonClover D{u, p.kappa, p.csw, p.boundary == Boundary::antiperiodic};
    return reference::norm(reference::combination(1, b, -1, D.apply(x))) / reference::norm(b);
}

/// Converged, with the residual that it reports, to the solution of one device. The difference of the solutions is below the tolerance
/// times the inverse's norm, which is below 20 for these fields.
inline void expect_solution_of_one_device(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& n,
                                          const GridShape& shape, const DiracParameters& parameters, const SolverOptions& options) {
    const auto u = test::random_gauge(n, 5, rough_links);
    with_distributed_solver(communicator, here, u, shape, parameters, options, [&](DistributedSolver& solver) {
        const auto b = test::random_spinor(n, 6);
        SpinorField x(n), one(n);
        const auto log = solver.solve(b, x);
        const auto alone = WilsonSolver(here.front(), u, parameters, options).solve(b, one);
        const auto what = solver.grid().text() + ", " + name(options.method) + ", " + name(options.inner);
        EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
        EXPECT_TRUE(log.notes.empty()) << what << ": " << log.notes.front();
        EXPECT_LE(log.true_residual, options.rtol) << what;
        EXPECT_NEAR(textbook_residual(u, parameters, b, x), log.true_residual, 2e-15) << what;
        EXPECT_LT(reference::relative_difference(x, one), 20 * 2 * options.rtol) << what;
        // The same iterations to rounding, which in half differs most.
        EXPECT_NEAR(log.inner_iterations, alone.inner_iterations, 3 + alone.inner_iterations / 10) << what;
        EXPECT_NEAR(log.iterations, alone.iterations, 3 + alone.iterations / 10) << what;
        EXPECT_EQ(log.residuals.back(), log.true_residual) << what;
        EXPECT_GT(log.gflops, 0);
    });
}

/// The modes that workers find, and solves that are deflated by them or by those of one device, are those of one device. Modes of other
/// links are refused, and leave the solver as it was.
inline void expect_modes_of_one_device(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& n,
                                       const GridShape& shape, const DiracParameters& parameters) {
    constexpr int count = 8;
    const SolverOptions options{.method = Method::cg, .schur = Schur::asymmetric, .inner = Precision::single};
    const auto u = test::random_gauge(n, 5, rough_links);
    with_distributed_solver(communicator, here, u, shape, parameters, options, [&](DistributedSolver& solver) {
        const auto b = test::random_spinor(n, 6);
        const auto modes_there = lowest_eigenmodes(here.front(), u, parameters, {.count = count});
        WilsonSolver one(here.front(), u, parameters, options);
        SpinorField plain(n), expected(n);
        const auto before = one.solve(b, plain);
        one.deflate(modes_there);
        const auto alone = one.solve(b, expected);
        ASSERT_LT(alone.iterations, before.iterations);
        const auto what = solver.grid().text();
        const auto expect_deflated = [&](int iterations) {
            SpinorField x(n);
            const auto log = solver.solve(b, x);
            EXPECT_TRUE(log.converged()) << what;
            EXPECT_NEAR(log.iterations, iterations, 1) << what;
            EXPECT_LT(reference::relative_difference(x, expected), 20 * 2 * options.rtol) << what;
        };
        expect_deflated(before.iterations);
        const auto modes = solver.deflate({.count = count}, true);
        EXPECT_EQ(modes.plaquette, modes_there.plaquette);
        ASSERT_EQ(modes.values.size(), modes_there.values.size());
        for (std::size_t i = 0; i < modes.values.size(); ++i) {
            EXPECT_NEAR(modes.values[i], modes_there.values[i], 1e-12 * modes_there.values[i]) << what;
            std::complex<double> product = 0;
            for (std::size_t k = 0; k < modes.vectors[i].size(); ++k) product += std::conj(modes.vectors[i][k]) * modes_there.vectors[i][k];
            EXPECT_NEAR(std::abs(product), 1, 1e-10) << what;
        }
        expect_deflated(alone.iterations);
        solver.deflate(modes_there);
        expect_deflated(alone.iterations);
        auto foreign = modes_there;
        std::swap(foreign.values.front(), foreign.values.back());
        EXPECT_THROW(solver.deflate(foreign), InputError) << what;
        expect_deflated(before.iterations);
        EXPECT_THROW(solver.deflate(EigenmodeOptions{.count = 0}), InputError);
        foreign.parameters.kappa *= 1.01;
        EXPECT_THROW(solver.deflate(foreign), InputError);
        EXPECT_TRUE(solver.deflate({.count = 1}).vectors.empty());
    });
}

}  // namespace kasane::lattice
