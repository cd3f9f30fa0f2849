// Trajectories of the workers of one process.
#include <lattice/distributed/trajectories.hpp>
#include <lattice/lattice_space.hpp>

#include <kasane/core/base/error.hpp>

namespace kasane::lattice {
namespace {

HmcSetup setup_of(const GaugeAction& action, Integrator integrator, int steps = 3) {
    return {.action = action, .levels = {{integrator, steps, {0}}}, .length = 0.3, .seed = 7};
}

class DividedTrajectories : public LatticeOnEverySpace {
   protected:
    template <class Body>
    void on_workers(int workers, Body body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), on_space([](auto on) -> AnySpace { return on; }));
        body(communicator, here);
    }
    void compare(const TrajectoryReference& one, const std::vector<GridShape>& shapes, double limit = 1e-11) {
        for (const auto& shape : shapes)
            on_workers(shape[0] * shape[1] * shape[2] * shape[3], [&](comm::WorkerCommunicator& communicator, const auto& here) {
                expect_trajectory_of_one_device(communicator, here, shape, one, limit);
            });
    }
    TrajectoryReference reference(const Extents& n, const HmcSetup& setup) {
        return on_space([&](auto on) { return TrajectoryReference(on, n, setup); });
    }
};
KS_ON_LATTICE_SPACES(DividedTrajectories);

TEST_P(DividedTrajectories, AreThoseOfOneDeviceOnEveryGrid) {
    const std::vector<GridShape> alone{{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}},
        several{{1, 2, 2, 1}, {2, 2, 2, 2}};
    for (const auto& named : gauge_actions) {
        const double beta = named.c1 == 0 ? 5.7 : named.c1 < -1 ? 0.8 : 3;
        const auto one = reference({{4, 4, 4, 4}}, setup_of({beta, named.c1}, Integrator::omelyan2));
        compare(one, several);
        if (named.c1 == 0 || named.name == std::string("iwasaki")) compare(one, alone);
    }
    const auto narrow = setup_of({3, -1. / 12}, Integrator::omelyan2);
    compare(reference({{2, 6, 2, 12}}, narrow), {{1, 3, 1, 1}, {1, 3, 1, 2}});
    compare(reference({{2, 2, 2, 32}}, narrow), {{1, 1, 1, 8}, {1, 1, 1, 16}});
}

TEST_P(DividedTrajectories, AreThoseOfOneDeviceWithEveryIntegrator) {
    for (const auto& named : integrators)
        for (const double c1 : {0., -1. / 12})
            compare(reference({{4, 4, 4, 4}}, setup_of({c1 == 0 ? 5.7 : 4, c1}, named.integrator, 2)), {{1, 1, 2, 2}});
}

TEST_P(DividedTrajectories, OfWilsonQuarksAreThoseOfOneDevice) {
    const auto gauge = setup_of({5.4, 0}, Integrator::omelyan2);
    const auto plain = reference({{4, 4, 4, 4}}, with_quarks(gauge, exact_quarks(DiracParameters{.kappa = 0.12})));
    compare(plain, {{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}, {2, 2, 2, 2}});
    const DiracParameters periodic{.kappa = 0.11, .csw = 0, .boundary = Boundary::periodic};
    compare(reference({{4, 4, 2, 4}}, with_quarks(gauge, exact_quarks(periodic, {0.2, 0.7}))), {{1, 1, 1, 1}, {2, 1, 1, 2}});
    compare(reference({{4, 4, 2, 4}}, with_quarks(gauge, exact_quarks({DiracParameters{.kappa = 0.12}, 0.1}))), {{1, 2, 1, 2}});
    compare(reference({{2, 6, 2, 4}}, with_quarks(setup_of({3, -1. / 12}, Integrator::omelyan2), exact_quarks(periodic))),
            {{1, 3, 1, 1}, {1, 3, 1, 2}});
    compare(reference({{2, 2, 2, 32}}, with_quarks(gauge, exact_quarks(periodic))), {{1, 1, 1, 8}});
}

TEST_P(DividedTrajectories, OfCloverQuarksAreThoseOfOneDevice) {
    const auto gauge = setup_of({5.4, 0}, Integrator::omelyan2);
    const DiracParameters clover{.kappa = 0.11, .csw = 1.3};
    const auto one = reference({{4, 4, 4, 4}}, with_quarks(gauge, exact_quarks(clover, {0.4})));
    compare(one, {{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}, {2, 2, 2, 2}});
    compare(reference({{4, 4, 2, 4}}, with_quarks(gauge, exact_quarks({clover, 0.1}))), {{1, 2, 1, 2}});
}

TEST_P(DividedTrajectories, OfQuarksSolveInLowerPrecisionsToo) {
    auto quarks = exact_quarks(DiracParameters{.kappa = 0.12, .csw = 1.1});
    quarks.solver = {.inner = Precision::single, .force = Precision::half};
    quarks.tolerances = {.value = 1e-12, .force = 1e-10, .chronological = 2};
    // Half precision rounds faces differently, so that solutions differ by their tolerance.
    compare(reference({{4, 4, 4, 4}}, with_quarks(setup_of({5.4, 0}, Integrator::omelyan2), quarks)), {{1, 1, 2, 2}}, 1e-7);
}

TEST_P(DividedTrajectories, OfOneFlavourAreThoseOfOneDevice) {
    const auto gauge = setup_of({5.4, 0}, Integrator::omelyan2);
    const DiracParameters clover{.kappa = 0.11, .csw = 1.3}, heavier{.kappa = 0.1, .csw = 1.3};
    const auto one = reference({{4, 4, 4, 4}}, with_flavours(gauge, {clover}));
    compare(one, {{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 2}, {2, 1, 2, 2}, {2, 2, 2, 2}});
    // Several operators share the local links.
    compare(reference({{4, 4, 2, 4}}, with_flavours(with_quarks(gauge, exact_quarks(clover, {0.4})), {heavier, clover})),
            {{1, 2, 1, 2}, {2, 2, 1, 2}});
    const DiracParameters periodic{.kappa = 0.11, .csw = 0, .boundary = Boundary::periodic};
    compare(reference({{2, 6, 2, 8}}, with_flavours(setup_of({3, -1. / 12}, Integrator::omelyan2), {periodic, {.kappa = 0.12}})),
            {{1, 3, 1, 1}, {1, 1, 1, 4}});
}

TEST_P(DividedTrajectories, OfOneFlavourContinueInSinglePrecision) {
    auto setup = with_flavours(setup_of({5.4, 0}, Integrator::omelyan2), {{.kappa = 0.12, .csw = 1.1}});
    setup.flavours[0].solver = {};
    setup.flavours[0].tolerances = {.value = 1e-12, .force = 1e-9};
    compare(reference({{4, 4, 4, 4}}, setup), {{1, 1, 2, 2}}, 1e-7);
}

TEST_P(DividedTrajectories, OfQuarksRefuseNumbersOutOfRange) {
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const auto& here) {
        const Extents n{{4, 4, 2, 4}};
        DistributedGauge gauge(communicator, here, RankGrid::chosen(n, 2), {.width = 2});
        gauge.load(test::random_gauge(n, 3, 0.4));
        gauge.begin_trajectories(with_flavours(setup_of({5.4, 0}, Integrator::omelyan2), {{.kappa = 0.12}}));
        EXPECT_THROW(gauge.spectrum(1, 1, 1), LogicError);
        EXPECT_THROW(gauge.set_approximation(-1, approximation_of(0)), LogicError);
        EXPECT_GT(gauge.spectrum(0, 1, 1).largest, 1);
    });
}

TEST_P(DividedTrajectories, ReportTolerancesThatRoundingDoesNotReach) {
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const auto& here) {
        const Extents n{{4, 4, 2, 4}};
        DistributedGauge gauge(communicator, here, RankGrid::chosen(n, 2), {.width = 2});
        gauge.load(test::random_gauge(n, 3, 0.4));
        auto quarks = exact_quarks(DiracParameters{.kappa = 0.12});
        quarks.tolerances = {.value = 1e-15, .force = 1e-8};
        const auto begin = gauge.begin_trajectories(with_quarks(setup_of({5.4, 0}, Integrator::omelyan2), quarks));
        EXPECT_EQ(begin.terms, (std::vector<std::string>{"gauge", "quark 1"}));
        EXPECT_EQ(begin.force_residual, 0);
        EXPECT_LT(begin.action_residual, 1e-13);
        quarks.tolerances.value = 2;
        EXPECT_THROW(gauge.begin_trajectories(with_quarks(setup_of({5.4, 0}, Integrator::omelyan2), quarks)), InputError);
    });
}

TEST_P(DividedTrajectories, AcceptAndRejectAsOneDevice) {
    // Steps so long that some trajectories are rejected.
    const Extents n{{4, 4, 2, 4}};
    const auto setup = HmcSetup{.action = {5.7, 0}, .levels = {{Integrator::leapfrog, 7, {0}}}, .length = 1, .seed = 4};
    const auto start = test::random_gauge(n, 3, 0.4);
    on_space([&]<Space S>(S on) {
        typename HybridMonteCarlo<S>::Terms terms;
        terms.push_back(std::make_unique<GaugeTerm<S>>(setup.action));
        HybridMonteCarlo<S> hmc(on, n, std::move(terms), setup.levels, setup.length, setup.seed);
        auto u = links_on(on, start);
        on_workers(4, [&](comm::WorkerCommunicator& communicator, const auto& here) {
            DistributedGauge gauge(communicator, here, RankGrid::given(n, 4, {2, 1, 1, 2}), {.width = 2});
            gauge.load(start);
            gauge.begin_trajectories(setup);
            int accepted = 0, rejected = 0;
            for (std::uint64_t number = 1; number <= 12; ++number) {
                // Each from the same links: a chain amplifies rounding.
                gauge.load(to_gauge_field(u));
                const auto expected = hmc.trajectory(u, number), result = gauge.trajectory(number);
                ASSERT_TRUE(result && expected);
                EXPECT_EQ(result->accepted, expected->accepted) << number;
                EXPECT_NEAR(result->dH, expected->dH, 1e-9) << number;
                EXPECT_LT(largest_difference(gauge.field(), to_gauge_field(u)), 1e-10) << number;
                ++(result->accepted ? accepted : rejected);
            }
            EXPECT_GT(accepted, 0);
            EXPECT_GT(rejected, 0);
        });
    });
}

TEST_P(DividedTrajectories, EndWhereTheFirstWorkerIsStopped) {
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const auto& here) {
        const Extents n{{4, 4, 2, 4}};
        const auto start = test::random_gauge(n, 3, 0.4);
        DistributedGauge gauge(communicator, here, RankGrid::chosen(n, 2), {.width = 2});
        gauge.load(start);
        gauge.begin_trajectories(setup_of({5.7, 0}, Integrator::omelyan2));
        int calls = 0;
        EXPECT_FALSE(gauge.trajectory(1, false, nullptr, [&] { return ++calls > 4; }));
        EXPECT_EQ(calls, 5);
        EXPECT_EQ(largest_difference(gauge.field(), start), 0);
        Timers timers;
        const auto whole = gauge.trajectory(1, false, &timers);
        ASSERT_TRUE(whole);
        gauge.load(start);
        gauge.set_levels({{Integrator::omelyan2, 6, {0}}});
        const auto finer = gauge.trajectory(1, false);
        ASSERT_TRUE(finer);
        EXPECT_LT(std::abs(finer->dH), 0.5 * std::abs(whole->dH));
    });
}

}  // namespace
}  // namespace kasane::lattice
