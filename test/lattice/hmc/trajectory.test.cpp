// Trajectories: order of the integrators, reversibility, exactness, and the same physics as the heatbath.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <lattice/gauge/cases.hpp>
#include <lattice/lattice_space.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace kasane::lattice {
namespace {

template <Space S>
HybridMonteCarlo<S> gauge_hmc(S on, const Extents& n, const GaugeAction& action, Integrator integrator, int steps, double length = 1,
                              std::uint64_t seed = 1) {
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(action));
    return {on, n, std::move(terms), {{integrator, steps, {0}}}, length, seed};
}

/// The action in two terms, one on each of two time scales.
template <Space S>
HybridMonteCarlo<S> split_hmc(S on, const Extents& n, const GaugeAction& action, Integrator integrator, int steps, double length = 1,
                              std::uint64_t seed = 1) {
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{0.8 * action.beta, action.c1}));
    terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{0.2 * action.beta, action.c1}));
    return {on, n, std::move(terms), {{integrator, steps, {1}}, {integrator, 2, {0}}}, length, seed};
}

template <Space S>
Links<S> thermal_links(S on, const Extents& n) {
    Links u(Cpu{1}, n);
    hot_start(u, 1);
    for (std::uint64_t sweep = 0; sweep < 30; ++sweep) heatbath_sweep(u, 5.7, 1, sweep);
    return links_on(on, to_gauge_field(u));
}

template <Space S>
Links<S> copy_of(const Links<S>& u) {
    Links<S> v(u.space(), u.extents);
    copy_links(u, v);
    return v;
}

double farthest(const GaugeField& a, const GaugeField& b) {
    double worst = 0;
    for (std::size_t k = 0; k < a.links.size(); ++k)
        worst = std::max(worst, std::sqrt(real_trace_times_adjoint(a.links[k] - b.links[k], a.links[k] - b.links[k])));
    return worst;
}

class Trajectories : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Trajectories);

// Over a decade of steps at fixed length.
TEST_P(Trajectories, ErrorsOfHScaleWithTheOrder) {
    on_space([](auto on) {
        const Extents n{{4, 2, 4, 2}};
        const auto start = thermal_links(on, n);
        for (const auto& [name, integrator, paper] : integrators)
            for (const double c1 : {0., -1. / 12}) {
                const auto error = [&](int steps) {
                    auto u = copy_of(start);
                    return gauge_hmc(on, n, {c1 == 0 ? 5.7 : 4.0, c1}, integrator, steps).trajectory(u, 1)->dH;
                };
                const int order = integrator == Integrator::omelyan4 || integrator == Integrator::force_gradient ? 4 : 2;
                // The next order of the error; and 1e-12 of rounding in H = 1e3.
                EXPECT_NEAR(std::log10(std::abs(error(16) / error(160))), order, 0.25) << name << ' ' << c1;
                EXPECT_NEAR(std::log2(std::abs(error(32) / error(64))), order, 0.25) << name << ' ' << c1;
            }
    });
}

TEST_P(Trajectories, AreReversible) {
    on_space([](auto on) {
        const Extents n{{4, 4, 4, 4}};
        const auto start = thermal_links(on, n);
        for (const auto& [name, integrator, paper] : integrators)
            for (const bool split : {false, true}) {
                auto hmc = split ? split_hmc(on, n, {4.5, -0.0833}, integrator, 5) : gauge_hmc(on, n, {5.7, 0}, integrator, 12);
                auto u = copy_of(start);
                Links p(on, n);
                draw_momenta(p, 1, 1);
                const auto momenta = to_gauge_field(p);
                const double before = kinetic_energy(p) + hmc.action(u);
                ASSERT_TRUE(hmc.integrate(u, p));
                EXPECT_GT(farthest(to_gauge_field(u), to_gauge_field(start)), 1) << "the links must move";
                reverse(p);
                ASSERT_TRUE(hmc.integrate(u, p));
                EXPECT_NEAR(kinetic_energy(p) + hmc.action(u), before, 1e-12 * 16 * 10) << name;  // 1e-12 sqrt(volume), H = 1e4
                reverse(p);
                EXPECT_LT(farthest(to_gauge_field(u), to_gauge_field(start)), 1e-12 * 16) << name;
                EXPECT_LT(farthest(to_gauge_field(p), momenta), 1e-11 * 16) << name;
            }
    });
}

// <exp(-dH)> = 1 is exact for a reversible integrator that preserves the volume; steps are so long that dH is of the order of 1.
TEST_P(Trajectories, PreserveTheVolumeOfPhaseSpace) {
    on_space([](auto on) {
        const Extents n{{2, 2, 4, 2}};
        struct Case {
            GaugeAction action;
            Integrator integrator;
            int steps;
            double length;
        };
        for (const auto& [action, integrator, steps, length] :
             {Case{{5.7, 0}, Integrator::leapfrog, 6, 1}, Case{{4.5, -1. / 12}, Integrator::omelyan2, 3, 1.2},
              Case{{2.6, -0.331}, Integrator::omelyan4, 1, 0.65}, Case{{1, -1.4088}, Integrator::force_gradient, 3, 1}}) {
            auto hmc = gauge_hmc(on, n, action, integrator, steps, length);
            auto u = thermal_links(on, n);
            std::vector<double> weights, changes, accepted;
            for (std::uint64_t number = 0; number < 260; ++number) {
                const auto done = hmc.trajectory(u, number);
                if (number < 60) continue;
                weights.push_back(std::exp(-done->dH));
                changes.push_back(done->dH);
                accepted.push_back(done->accepted);
            }
            const auto mean = estimate(weights), dH = estimate(changes), acceptance = estimate(accepted);
            EXPECT_GT(dH.mean, 0.03) << action.c1;
            EXPECT_LT(mean.error, 0.2) << action.c1;
            EXPECT_NEAR(mean.mean, 1, 4 * mean.error) << action.c1;
            // [Gupta et al. 1990]; for Gaussian dH of width sqrt(2 <dH>)
            EXPECT_NEAR(acceptance.mean, std::erfc(std::sqrt(dH.mean) / 2), 4 * acceptance.error + 0.03) << action.c1;
        }
    });
}

// The length of the force follows from an integration by parts over a link:
//   <sum_a f_a^2> = <sum_a d_a^2 S> = 4/3 beta / 3 <Re tr U A>  for loops that pass a link once (extents above 2),
// and the sum of Re tr U A over links counts each plaquette four times and each rectangle six times.
TEST_P(Trajectories, FulfilTheSchwingerDysonEquation) {
    on_space([](auto on) {
        const Extents n{{4, 4, 4, 4}};
        for (const auto& action : {GaugeAction{5.7, 0}, GaugeAction{4.5, -1. / 12}, GaugeAction{2.6, -0.331}, GaugeAction{1, -1.4088}}) {
            auto hmc = gauge_hmc(on, n, action, Integrator::omelyan2, 6);
            Links u(on, n), force(on, n);
            cold_start(u);
            std::vector<double> ratio;
            for (std::uint64_t number = 0; number < 50; ++number) {
                hmc.trajectory(u, number);
                if (number < 15) continue;
                set_zero(force);
                add_gauge_force(u, action, 1, force);
                const auto loops = loop_means(u);
                const auto sites = static_cast<double>(n.volume());
                const double traces = 3 * sites * (action.c0() * 4 * 6 * loops.plaquette + action.c1 * 6 * 12 * loops.rectangle);
                ratio.push_back(2 * kinetic_energy(force) / (4 * action.beta / 9 * traces));  // sum f_a^2 = -2 tr F^2
            }
            const auto mean = estimate(ratio);
            EXPECT_LT(mean.error, 0.008) << action.c1;  // 8192 components: 1.6% of one field, of 35 correlated ones
            EXPECT_NEAR(mean.mean, 1, 4 * mean.error) << action.c1;
        }
    });
}

TEST_P(Trajectories, RestoreTheLinksOfARejectedOrStoppedTrajectory) {
    on_space([](auto on) {
        const Extents n{{2, 4, 2, 4}};
        auto u = thermal_links(on, n);
        const auto before = to_gauge_field(u);
        auto coarse = gauge_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 1, 4);
        const auto rejected = coarse.trajectory(u, 0);
        ASSERT_TRUE(rejected);
        EXPECT_FALSE(rejected->accepted);
        EXPECT_GT(rejected->dH, 10);
        EXPECT_EQ(to_gauge_field(u).links, before.links);

        int asked = 0;
        auto fine = gauge_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 20);
        EXPECT_FALSE(fine.trajectory(u, 0, true, nullptr, [&] { return ++asked == 8; }));
        EXPECT_EQ(asked, 8);
        EXPECT_EQ(to_gauge_field(u).links, before.links);
        // And it can be run again: the same trajectory as without the stop.
        auto v = copy_of(u);
        const auto first = fine.trajectory(u, 0), second = gauge_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 20).trajectory(v, 0);
        EXPECT_TRUE(first->accepted);
        EXPECT_EQ(first->dH, second->dH);
        EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(v).links);
        EXPECT_NE(to_gauge_field(u).links, before.links);

        const auto forced = coarse.trajectory(u, 5, false);  // without Metropolis's test
        EXPECT_TRUE(forced->accepted);
    });
}

TEST_P(Trajectories, MeasureTheTimeOfEachTerm) {
    on_space([](auto on) {
        const Extents n{{2, 2, 2, 2}};
        Links u(on, n);
        cold_start(u);
        Timers timers;
        gauge_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 10).trajectory(u, 0, true, &timers);
        EXPECT_EQ(timers.parts().at("force, gauge").calls, 11);
        EXPECT_EQ(timers.parts().at("links").calls, 10);
        EXPECT_EQ(timers.parts().at("action").calls, 2);
    });
}

TEST_P(Trajectories, MeasureForcesOfTheFirstKick) {
    on_space([](auto on) {
        const Extents n{{2, 4, 2, 4}};
        auto u = thermal_links(on, n);
        Links force(on, n);
        std::vector<LinkNorms> expected;
        auto hmc = split_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 5);  // kicks: 6 of term 1, 11 of term 0, of which 2 are measured
        for (const auto& term : hmc.terms()) {
            set_zero(force);
            term->add_force(u, 1, force);
            LinkNorms norms;
            for (const auto& f : to_gauge_field(force).links) {  // |F|^2 = -2 tr F^2 = 2 tr F F^+
                const double norm = std::sqrt(2 * real_trace_times_adjoint(f, f));
                norms.sum += norm, norms.largest = std::max(norms.largest, norm);
            }
            EXPECT_NEAR(link_norms(force).sum, norms.sum, 1e-12 * norms.sum);
            EXPECT_NEAR(link_norms(force).largest, norms.largest, 1e-13 * norms.largest);
            expected.push_back(norms);
        }
        const auto done = hmc.trajectory(u, 0);
        ASSERT_EQ(done->terms.size(), 2U);
        const double links = 4 * static_cast<double>(n.volume());
        EXPECT_NEAR(done->terms[1].force_mean, expected[1].sum / links, 1e-12 * expected[1].sum / links);
        EXPECT_NEAR(done->terms[1].force_largest, expected[1].largest, 1e-12 * expected[1].largest);
        // The mean of two kicks; the links are in equilibrium, so that it differs by the noise of one field, some percent of it.
        EXPECT_GT(std::abs(done->terms[0].force_mean - expected[0].sum / links), 1e-4 * expected[0].sum / links);
        EXPECT_NEAR(done->terms[0].force_mean, expected[0].sum / links, 0.1 * expected[0].sum / links);
        EXPECT_GE(done->terms[0].force_largest, expected[0].largest * (1 - 1e-12));
        EXPECT_EQ(done->terms[0].iterations, 0);
    });
}

TEST_P(Trajectories, ReturnToTheStartWithoutEffectOnTheChain) {
    on_space([](auto on) {
        const Extents n{{4, 2, 4, 4}};
        auto u = thermal_links(on, n);
        auto v = copy_of(u);
        for (const auto integrator : {Integrator::omelyan2, Integrator::force_gradient}) {
            auto plain = split_hmc(on, n, {5.7, 0}, integrator, 4), returning = split_hmc(on, n, {5.7, 0}, integrator, 4);
            for (std::uint64_t number = 0; number < 4; ++number) {
                const auto a = plain.trajectory(u, number), b = returning.trajectory(v, number, true, nullptr, {}, number % 2 == 0);
                EXPECT_EQ(a->dH, b->dH);
                EXPECT_EQ(a->accepted, b->accepted);
                EXPECT_EQ(a->terms[0].force_mean, b->terms[0].force_mean);
                EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(v).links);
                EXPECT_FALSE(a->reversibility);
                ASSERT_EQ(b->reversibility.has_value(), number % 2 == 0);
                if (number % 2) continue;
                const double root_volume = std::sqrt(static_cast<double>(n.volume()));
                EXPECT_GT(b->reversibility->distance, 0);
                EXPECT_LT(b->reversibility->distance, 1e-11 * root_volume);
                EXPECT_LT(std::abs(b->reversibility->dH), 1e-11 * root_volume);
            }
        }
        // A stop on the way back gives no result, and the links of before.
        const auto before = to_gauge_field(u);
        auto hmc = gauge_hmc(on, n, {5.7, 0}, Integrator::leapfrog, 10);  // 21 operations
        int asked = 0;
        EXPECT_FALSE(hmc.trajectory(u, 9, true, nullptr, [&] { return ++asked == 30; }, true));
        EXPECT_EQ(asked, 30);
        EXPECT_EQ(to_gauge_field(u).links, before.links);
        const auto moved = distance(u, u);
        EXPECT_EQ(moved, 0);
    });
}

TEST(HybridMonteCarlo, TakesOtherLevels) {
    const Extents n{{2, 2, 2, 4}};
    auto u = thermal_links(Cpu{1}, n);
    auto v = copy_of(u);
    auto changed = gauge_hmc(Cpu{1}, n, {5.7, 0}, Integrator::leapfrog, 3);
    changed.set_levels({{Integrator::force_gradient, 5, {0}}});
    auto same = gauge_hmc(Cpu{1}, n, {5.7, 0}, Integrator::force_gradient, 5);
    EXPECT_EQ(changed.trajectory(u, 0)->dH, same.trajectory(v, 0)->dH);
    EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(v).links);
    EXPECT_THROW(changed.set_levels({{Integrator::leapfrog, 5, {}}}), LogicError);
    EXPECT_EQ(changed.trajectory(u, 1)->dH, same.trajectory(v, 1)->dH) << "levels that are refused change nothing";
}

// By hybrid Monte Carlo as by the heatbath, whose longest runs on 4^4 have 0.5597(2) and 0.5598(3) (update.test.cpp).
TEST_P(Trajectories, AgreeWithTheHeatbath) {
    on_space([](auto on) {
        const Extents n{{4, 4, 4, 4}};
        for (const bool split : {false, true}) {
            auto hmc = split ? split_hmc(on, n, {5.7, 0}, Integrator::omelyan2, 5, 1, 3)
                             : gauge_hmc(on, n, {5.7, 0}, Integrator::omelyan2, 8, 1, 2);
            auto u = thermal_links(on, n);
            std::vector<double> plaquettes;
            double accepted = 0;
            for (std::uint64_t number = 0; number < 220; ++number) {
                const auto done = hmc.trajectory(u, number);
                if (number < 20) continue;
                plaquettes.push_back(plaquette(u).mean());
                accepted += done->accepted;
            }
            const auto mean = estimate(plaquettes);
            EXPECT_GT(accepted, 150);
            EXPECT_LT(mean.error, 0.004);
            EXPECT_NEAR(mean.mean, 0.5598, 4 * std::hypot(mean.error, 0.0003));
        }
    });
}

TEST(TrajectoriesOnThreads, AreTheSame) {
    const Extents n{{4, 2, 4, 6}};
    const auto run = [&](int threads) {
        Links u(Cpu{threads}, n);
        hot_start(u, 1);
        auto hmc = split_hmc(Cpu{threads}, n, {4.5, -0.1}, Integrator::omelyan4, 3);
        std::vector<double> changes;
        for (std::uint64_t number = 0; number < 4; ++number) changes.push_back(hmc.trajectory(u, number)->dH);
        return std::pair(to_gauge_field(u).links, changes);
    };
    EXPECT_EQ(run(1), run(3));
}

TEST(HybridMonteCarlo, RefusesTermsWithoutALevel) {
    const auto make = [](std::vector<int> outer, std::vector<int> inner) {
        HybridMonteCarlo<Cpu>::Terms terms;
        for (int k = 0; k < 2; ++k) terms.push_back(std::make_unique<GaugeTerm<Cpu>>(GaugeAction{1, 0}));
        HybridMonteCarlo<Cpu>(Cpu{1}, {{2, 2, 2, 2}}, std::move(terms),
                              {{Integrator::leapfrog, 1, std::move(outer)}, {Integrator::leapfrog, 1, std::move(inner)}}, 1, 1);
    };
    make({0}, {1});
    EXPECT_THROW(make({0}, {}), LogicError);
    EXPECT_THROW(make({0}, {1, 0}), LogicError);
    EXPECT_THROW(make({0}, {1, 2}), LogicError);
    EXPECT_THROW(make({0}, {1, -1}), LogicError);
}

TEST(Metropolis, AcceptsWithTheProbabilityOfTheChange) {
    int accepted = 0;
    for (std::uint64_t number = 0; number < 10000; ++number) {
        accepted += metropolis_accepts(1, 7, number);
        EXPECT_TRUE(metropolis_accepts(-1e-3, 7, number));
        EXPECT_FALSE(metropolis_accepts(std::numeric_limits<double>::quiet_NaN(), 7, number));
        EXPECT_FALSE(metropolis_accepts(-std::numeric_limits<double>::infinity(), 7, number));
        EXPECT_FALSE(metropolis_accepts(1e4, 7, number));
    }
    EXPECT_NEAR(accepted / 10000., 1 / std::numbers::e, 4 * 0.0048);  // sqrt(0.37 0.63 / 10000)
}

#if defined(KASANE_CUDA)
TEST(TrajectoriesOnADevice, AreThoseOfTheCpu) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const Extents n{{4, 4, 2, 4}};
    auto here = thermal_links(Cpu{1}, n);
    auto there = links_on(Cuda{}, to_gauge_field(here));
    auto on_cpu = split_hmc(Cpu{1}, n, {4.5, -1. / 12}, Integrator::omelyan2, 5);
    auto on_cuda = split_hmc(Cuda{}, n, {4.5, -1. / 12}, Integrator::omelyan2, 5);
    for (std::uint64_t number = 0; number < 2; ++number) {
        const auto a = on_cpu.trajectory(here, number), b = on_cuda.trajectory(there, number);
        EXPECT_EQ(a->accepted, b->accepted);
        EXPECT_NEAR(a->dH, b->dH, 1e-8);
        EXPECT_LT(farthest(to_gauge_field(here), to_gauge_field(there)), 1e-9);  // roundings, enlarged by the dynamics
    }
}
#endif

/// A gauge action whose force fails after some calls.
template <Space S>
struct FailingTerm final : GaugeTerm<S> {
    int calls_left;
    FailingTerm(const GaugeAction& action, int calls) : GaugeTerm<S>(action), calls_left(calls) {}
    void add_force(const Links<S>& u, double factor, Links<S>& force) override {
        if (calls_left-- == 0) throw ComputationError("the solve of a test failed");
        GaugeTerm<S>::add_force(u, factor, force);
    }
};

TEST_P(Trajectories, AFailureLeavesTheLinksOfBefore) {
    on_space([](auto on) {
        using S = decltype(on);
        auto u = thermal_links(on, unequal_extents);
        const auto before = to_gauge_field(u);
        const GaugeAction action{5.7, 0};
        typename HybridMonteCarlo<S>::Terms terms;
        terms.push_back(std::make_unique<FailingTerm<S>>(action, 5));
        HybridMonteCarlo<S> hmc(on, unequal_extents, std::move(terms), {{Integrator::leapfrog, 8, {0}}}, 1, 1);
        EXPECT_THROW(hmc.trajectory(u, 1), ComputationError);
        EXPECT_EQ(to_gauge_field(u).links, before.links);
        // The same object continues as one that never failed.
        auto v = links_on(on, before);
        const auto again = hmc.trajectory(u, 2), other = gauge_hmc(on, unequal_extents, action, Integrator::leapfrog, 8).trajectory(v, 2);
        ASSERT_TRUE(again && other);
        EXPECT_EQ(again->dH, other->dH);
        EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(v).links);
    });
}

}  // namespace
}  // namespace kasane::lattice
