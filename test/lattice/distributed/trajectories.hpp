// Trajectories of divided links against one device: cases for workers in one process and for ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/distributed_gauge.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include "lattice/distributed/updates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Two flavours in the setup of trajectories: the fields of quarks on the longer of two time scales.
inline HmcSetup with_quarks(HmcSetup setup, QuarkSetup quarks) {
    const bool clover = quarks.parameters.dirac.csw != 0;
    setup.levels = {{Integrator::omelyan2, 1, {}}, {Integrator::omelyan2, 1, {0}}};
    for (std::size_t term = 1; term <= quarks.masses.size() + 1 + (clover ? 1 : 0); ++term)
        setup.levels[0].terms.push_back(static_cast<int>(term));
    setup.quarks = std::move(quarks);
    return setup;
}
/// Solves to the rounding of double precision.
inline QuarkSetup exact_quarks(const QuarkParameters& parameters, std::vector<double> masses = {}) {
    return {.parameters = parameters,
            .solver = {.inner = Precision::double_},
            .tolerances = {.value = 1e-14, .force = 1e-14},
            .masses = std::move(masses)};
}

/// Quarks of one flavour beside what the setup has, on its first time scale; their approximations have the range 0.02 to 6, in which all
/// eigenvalues need not be: both sides have the same action.
inline HmcSetup with_flavours(HmcSetup setup, const std::vector<DiracParameters>& flavours) {
    int terms = 0;
    for (const auto& level : setup.levels) terms += static_cast<int>(level.terms.size());
    if (!setup.quarks) setup.levels = {{Integrator::omelyan2, 1, {}}, {Integrator::omelyan2, 1, {0}}};
    const auto fields = setup.quarks ? static_cast<int>(setup.quarks->masses.size()) + 1 : 0;
    for (const auto& each : flavours) {
        const auto exact = exact_quarks(each);
        setup.flavours.push_back({exact.parameters, exact.solver, exact.tolerances, fields + static_cast<int>(setup.flavours.size())});
        for (int term = 0; term < (each.csw != 0 ? 2 : 1); ++term) setup.levels[0].terms.push_back(terms++);
    }
    return setup;
}
/// Of the flavour of this number.
inline RationalApproximation approximation_of(std::size_t flavour) { return inverse_root(0.02, 6, 4 + static_cast<int>(flavour)); }

/// Two trajectories of one device, the second of them back to its start too, and a flow of the links at their end.
struct TrajectoryReference {
    GaugeField start;
    HmcSetup setup;
    std::vector<std::string> terms;
    std::vector<TrajectoryResult> results;
    std::vector<GaugeField> ends;
    std::vector<Spectrum> spectra;  ///< of each operator of quarks, of the links at the end
    LoopMeans loops;
    std::vector<FlowPoint> flow;

    template <Space S>
    TrajectoryReference(S on, const Extents& n, HmcSetup of) : start(test::random_gauge(n, 3, 0.4)), setup(std::move(of)) {
        typename HybridMonteCarlo<S>::Terms all;
        all.push_back(std::make_unique<GaugeTerm<S>>(setup.action));
        std::vector<std::shared_ptr<QuarkOperator<S>>> operators;
        const auto add = [&](auto& terms) {
            for (auto& term : terms) all.push_back(std::move(term));
        };
        if (const auto& quarks = setup.quarks) {
            operators.push_back(std::make_shared<QuarkOperator<S>>(on, n, quarks->parameters, quarks->solver));
            auto terms = quark_action<S>(operators.back(), quarks->masses, quarks->tolerances);
            add(terms);
        }
        for (std::size_t k = 0; k < setup.flavours.size(); ++k) {
            const auto& flavour = setup.flavours[k];
            operators.push_back(std::make_shared<QuarkOperator<S>>(on, n, flavour.parameters, flavour.solver));
            auto terms = one_flavour_action<S>(operators.back(), flavour.number, approximation_of(k), flavour.tolerances);
            add(terms);
        }
        for (const auto& term : all) terms.push_back(term->name());
        HybridMonteCarlo<S> hmc(on, n, std::move(all), setup.levels, setup.length, setup.seed);
        auto u = links_on(on, start);
        for (const bool reverse : {false, true}) {
            results.push_back(*hmc.trajectory(u, results.size() + 1, false, nullptr, {}, reverse));
            ends.push_back(to_gauge_field(u));
        }
        for (const auto& D : operators) {
            D->pack(u);
            spectra.push_back(measure_spectrum(*D, setup.seed, 2));
        }
        loops = loop_means(u);
        flow = wilson_flow(u, 0.04, 0.02);
    }
};

/// Each to rounding: H is 2e4 at most, and its partial sums follow the workers, so that dH differs by a few of its last digits, 4e-12.
/// @param limit  of differences of dH, forces and links
inline void expect_trajectory_of_one_device(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here,
                                            const GridShape& shape, const TrajectoryReference& one, double limit = 1e-11) {
    if (communicator.ranks().rank() > 0) return gauge_worker_loop(communicator, here);
    DistributedGauge gauge(communicator, here, RankGrid::given(one.start.extents, communicator.size(), shape), {.width = 2});
    const auto what = gauge.grid().text() + ", c1 " + std::to_string(one.setup.action.c1) + ", integrator " +
                      std::to_string(static_cast<int>(one.setup.levels[0].integrator));
    gauge.load(one.start);
    EXPECT_EQ(gauge.begin_trajectories(one.setup).terms, one.terms) << what;
    for (std::size_t k = 0; k < one.setup.flavours.size(); ++k) gauge.set_approximation(static_cast<int>(k), approximation_of(k));
    const double H = std::abs(one.results[0].H);
    for (std::size_t k = 0; k < one.results.size(); ++k) {
        const auto& expected = one.results[k];
        const auto result = gauge.trajectory(k + 1, false, nullptr, {}, expected.reversibility.has_value());
        ASSERT_TRUE(result) << what;
        EXPECT_NEAR(result->H, expected.H, 1e-14 * H) << what;
        EXPECT_NEAR(result->dH, expected.dH, limit) << what;
        EXPECT_EQ(result->accepted, expected.accepted) << what;
        ASSERT_EQ(result->terms.size(), expected.terms.size()) << what;
        for (std::size_t term = 0; term < expected.terms.size(); ++term) {
            EXPECT_NEAR(result->terms[term].force_mean, expected.terms[term].force_mean, limit) << what << ", " << one.terms[term];
            EXPECT_NEAR(result->terms[term].force_largest, expected.terms[term].force_largest, limit) << what << ", " << one.terms[term];
        }
        ASSERT_EQ(result->reversibility.has_value(), expected.reversibility.has_value()) << what;
        if (result->reversibility) {
            EXPECT_LT(result->reversibility->distance, 10 * limit) << what;
            EXPECT_LT(std::abs(result->reversibility->dH), 10 * limit) << what;
        }
        EXPECT_LT(largest_difference(gauge.field(), one.ends[k]), limit) << what << ", trajectory " << k + 1;
    }
    for (std::size_t k = 0; k < one.spectra.size(); ++k) {
        const auto found = gauge.spectrum(static_cast<int>(k), one.setup.seed, 2);
        const auto& expected = one.spectra[k];
        EXPECT_EQ(found.converged, expected.converged) << what;
        EXPECT_EQ(found.steps, expected.steps) << what;
        EXPECT_NEAR(found.smallest, expected.smallest, 10 * limit) << what;
        EXPECT_NEAR(found.largest, expected.largest, 10 * limit) << what;
    }
    const auto loops = gauge.loop_means();
    EXPECT_NEAR(loops.plaquette, one.loops.plaquette, limit) << what;
    EXPECT_NEAR(loops.rectangle, one.loops.rectangle, limit) << what;
    const auto flow = gauge.flow(0.04, 0.02);
    ASSERT_EQ(flow.size(), one.flow.size());
    EXPECT_NEAR(flow.back().t2E, one.flow.back().t2E, limit) << what;
    EXPECT_NEAR(flow.back().charge, one.flow.back().charge, limit) << what;
    EXPECT_NEAR(gauge.loop_means().plaquette, loops.plaquette, 1e-15) << "a flow must leave the links alone";
}

}  // namespace kasane::lattice
