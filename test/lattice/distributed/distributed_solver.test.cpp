// Solvers of the workers of one process.
#include <lattice/distributed/distributed_solver.hpp>
#include <lattice/lattice_space.hpp>

#include <kasane/core/base/error.hpp>

#include <cmath>
#include <limits>

namespace kasane::lattice {
namespace {

constexpr DiracParameters distributed_clover{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};

class DistributedSolverOn : public LatticeOnEverySpace {
   protected:
    template <class F>
    void on_workers(int workers, F body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), on_space([](auto on) -> AnySpace { return on; }));
        body(communicator, here);
    }
    void compare(const Extents& n, const GridShape& shape, const DiracParameters& parameters, const SolverOptions& options) {
        on_workers(shape[0] * shape[1] * shape[2] * shape[3],
                   [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
                       expect_solution_of_one_device(communicator, here, n, shape, parameters, options);
                   });
    }
};
KS_ON_LATTICE_SPACES(DistributedSolverOn);

TEST_P(DistributedSolverOn, EveryMethodInEveryPrecision) {
    for (const auto method :
         {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement, Method::automatic})
        for (const auto inner : {Precision::half, Precision::single, Precision::double_})
            compare({{4, 4, 2, 8}}, {2, 1, 1, 2}, distributed_clover, {.method = method, .inner = inner});
}

TEST_P(DistributedSolverOn, EveryNumberOfWorkers) {
    for (const GridShape& shape : {GridShape{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2, 1, 2}, {2, 1, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 4}})
        compare({{4, 4, 4, 8}}, shape, distributed_clover, {});
    compare({{2, 6, 2, 4}}, {1, 3, 1, 1}, distributed_clover, {});
    compare({{2, 2, 2, 32}}, {1, 1, 1, 16}, distributed_clover, {});
}

TEST_P(DistributedSolverOn, EveryFormBoundaryAndGauge) {
    const Extents n{{4, 2, 4, 8}};
    for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
        for (const double csw : {0., 1.2}) compare(n, {1, 1, 2, 2}, {.kappa = 0.11, .csw = csw, .boundary = boundary}, {});
    compare(n, {1, 1, 2, 2}, distributed_clover, {.schur = Schur::asymmetric});
    SolverOptions temporal{.inner = Precision::single};
    temporal.outer_links = {.reals = LinkReals::two_rows, .temporal_gauge = true};
    temporal.inner_links = {.reals = LinkReals::two_rows, .half = true, .temporal_gauge = true};
    for (const GridShape& shape : {GridShape{2, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 4}}) compare(n, shape, distributed_clover, temporal);
}

TEST_P(DistributedSolverOn, AppliesTheOperatorAndItsAdjoint) {
    const Extents n{{4, 4, 2, 8}};
    const auto u = test::random_gauge(n, 9);
    const auto psi = test::random_spinor(n, 1);
    const DiracParameters parameters{.kappa = 0.12, .csw = 0.3};
    const reference::WilsonClover D{u, parameters.kappa, parameters.csw, true};
    for (const bool temporal : {false, true})
        on_workers(4, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            SolverOptions options{.inner = Precision::double_};
            options.outer_links.temporal_gauge = temporal;
            with_distributed_solver(communicator, here, u, {2, 1, 1, 2}, parameters, options, [&](DistributedSolver& solver) {
                for (const bool adjoint : {false, true}) {
                    SpinorField out;
                    solver.apply(psi, out, adjoint);
                    EXPECT_LT(reference::relative_difference(out, D.apply(psi, adjoint)), 1e-14);
                }
                SpinorField out;
                EXPECT_THROW(solver.apply(SpinorField(Extents{{2, 2, 2, 2}}), out), LogicError);
            });
        });
}

TEST_P(DistributedSolverOn, KeepsTheContractOfOneDevice) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::random_gauge(n, 5, rough_links);
    const auto b = test::random_spinor(n, 6);
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        with_distributed_solver(communicator, here, u, {1, 1, 1, 2}, distributed_clover, {.rtol = 1e-11}, [&](DistributedSolver& solver) {
            // The first guess, which is the solution.
            SpinorField x(n);
            ASSERT_TRUE(solver.solve(b, x).converged());
            const auto again = solver.solve(b, x);
            EXPECT_TRUE(again.converged());
            EXPECT_LE(again.inner_iterations, 2);
            // A source of zeros; numbers that are not finite, which leave x as it was.
            ASSERT_TRUE(solver.solve(SpinorField(n), x).converged());
            EXPECT_EQ(x.values, SpinorField(n).values);
            auto bad = b;
            bad.values.back() = std::numeric_limits<double>::quiet_NaN();
            auto y = test::random_spinor(n, 1);
            const auto before = y.values;
            EXPECT_EQ(solver.solve(bad, y).end, krylov::Outcome::not_finite);
            EXPECT_EQ(y.values, before);
            // A source on one site of the last worker alone, and sources far outside the range of floats.
            SpinorField point(n), z(n);
            point.at(n.volume() - 1, 2, 1) = 1;
            EXPECT_TRUE(solver.solve(point, z).converged());
            EXPECT_LE(textbook_residual(u, distributed_clover, point, z), 1.01e-11);
            auto tiny = b;
            for (auto& value : tiny.values) value *= 0x1p-997;
            SpinorField w(n);
            EXPECT_TRUE(solver.solve(tiny, w).converged());
            // A stop.
            int asked = 0;
            SpinorField v(n);
            const auto stopped = solver.solve(b, v, [&](int iteration, double) { return ++asked, iteration >= 3; });
            EXPECT_EQ(stopped.end, krylov::Outcome::stopped);
            EXPECT_LE(std::max(stopped.iterations, stopped.inner_iterations), 3 + 8);
            EXPECT_NEAR(stopped.true_residual, textbook_residual(u, distributed_clover, b, v), 1e-13);
        });
    });
}

TEST_P(DistributedSolverOn, PromotesHalfPrecisionThatStagnates) {
    // As on one device: the links are packed again, in single precision.
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::unit_gauge(n);
    const auto b = test::random_spinor(n, 2);
    const DiracParameters light{.kappa = 0.1249999, .boundary = Boundary::periodic};
    on_workers(4, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        with_distributed_solver(communicator, here, u, {1, 1, 2, 2}, light, {.method = Method::bicgstab, .rtol = 1e-9},
                                [&](DistributedSolver& solver) {
                                    SpinorField x(n);
                                    const auto log = solver.solve(b, x);
                                    EXPECT_EQ(log.end, krylov::Outcome::converged);
                                    EXPECT_LE(textbook_residual(u, light, b, x), 1e-9 * (1 + 1e-3));
                                    EXPECT_FALSE(log.notes.empty());
                                });
    });
}

TEST_P(DistributedSolverOn, RefusesBadInputOnce) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::random_gauge(n, 5, rough_links);
    SolverOptions eight;
    eight.inner_links.reals = LinkReals::parameters;
    auto damaged = u;
    damaged.links[7].e[0][0].re = std::numeric_limits<double>::infinity();
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        const auto make = [&](const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
            with_distributed_solver(communicator, here, links, {1, 1, 1, 2}, parameters, options, [](DistributedSolver&) {});
        };
        EXPECT_THROW(make(u, distributed_clover, eight), InputError);
        EXPECT_THROW(make(damaged, distributed_clover, {}), InputError);
        EXPECT_THROW(make(u, {.kappa = -1}, {}), InputError);
        EXPECT_THROW(make(u, {.kappa = 0.2, .csw = 40}, {}), InputError) << "the clover term is not positive definite";
        EXPECT_NO_THROW(make(u, distributed_clover, {}));
        EXPECT_THROW(DistributedSolver(communicator, here, RankGrid::chosen({{4, 4, 4, 8}}, 2), u, distributed_clover), LogicError);
    });
}

}  // namespace
}  // namespace kasane::lattice
