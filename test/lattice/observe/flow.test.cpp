// The Wilson flow: the diffusion of weak fields, the order of the integrator, decreasing and conserved quantities.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/transform.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <lattice/constant_flux.hpp>
#include <lattice/lattice_space.hpp>

#include <cmath>
#include <numbers>

namespace kasane::lattice {
namespace {

class Flow : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Flow);

template <Space S>
Links<S> thermal(S on, const Extents& n) {
    Links u(Cpu{1}, n);
    hot_start(u, 1);
    for (std::uint64_t sweep = 0; sweep < 20; ++sweep) heatbath_sweep(u, 6, 1, sweep);
    return links_on(on, to_gauge_field(u));
}

// Links exp(i a cos(p x) lambda) along y with a small: a transverse wave of the free field, which the flow damps as exp(-p^2 t),
// p^2 = 2 - 2 cos p.
TEST_P(Flow, DampsAWeakWaveAsDiffusionDoes) {
    on_space([](auto on) {
        constexpr double amplitude = 1e-4, t = 2;
        const Extents n{{8, 2, 4, 2}};
        const double p = 2 * std::numbers::pi / n[0], rate = 2 - 2 * std::cos(p);
        GaugeField field(n);
        for (index_t i = 0; i < n.volume(); ++i) {
            for (int mu = 0; mu < 4; ++mu) field.link(i, mu) = Su3<double>::unit();
            const double angle = amplitude * std::cos(p * n.site(i)[0]);
            field.link(i, 1).e[0][0] = {std::cos(angle), std::sin(angle)};
            field.link(i, 1).e[2][2] = {std::cos(angle), -std::sin(angle)};
        }
        auto u = links_on(on, field);
        wilson_flow(u, t, 0.05);
        const auto damped = to_gauge_field(u);
        for (index_t i = 0; i < n.volume(); ++i) {
            const double angle = std::atan2(damped.link(i, 1).e[0][0].im, damped.link(i, 1).e[0][0].re);
            // The field's own size 1e-8, and the integrator's (rate step)^4 / 24 a step: 3e-7 of it in 40 steps of 0.029
            EXPECT_NEAR(angle, amplitude * std::cos(p * n.site(i)[0]) * std::exp(-rate * t), 1e-6 * amplitude);
        }
    });
}

// Halving the step again moves the links at the end by an eighth of what the first halving does. (Errors of single numbers have both signs,
// and may cancel.)
TEST_P(Flow, ErrorFallsAsStepCubed) {
    on_space([](auto on) {
        const auto end = [&](int steps) {
            auto u = thermal(on, {{4, 4, 2, 4}});
            wilson_flow(u, 0.4, 0.4 / steps, steps);
            return u;
        };
        const auto coarse = end(16), fine = end(32), finest = end(64);
        // The next order is 16 / 32 of the largest eigenvalue, which has decayed: it adds little.
        EXPECT_NEAR(std::log2(distance(coarse, fine) / distance(fine, finest)), 3, 0.2);
    });
}

// 0.11 is no multiple of 0.04: three steps, all a little shorter.
TEST_P(Flow, EndsAtItsTime) {
    on_space([](auto on) {
        auto u = thermal(on, {{4, 4, 4, 6}}), same = thermal(on, {{4, 4, 4, 6}});
        const auto points = wilson_flow(u, 0.11, 0.04);
        ASSERT_EQ(points.size(), 4u);
        EXPECT_NEAR(points.back().t, 0.11, 1e-15);
        EXPECT_EQ(points.back().t2E, wilson_flow(same, 0.11, 0.11 / 3).back().t2E);
    });
}

TEST_P(Flow, HasAPointAtItsEnd) {
    on_space([](auto on) {
        auto u = thermal(on, {{4, 4, 4, 6}});
        const auto points = wilson_flow(u, 0.1, 0.02, 3);
        ASSERT_EQ(points.size(), 3u);
        EXPECT_NEAR(points[1].t, 0.06, 1e-15);
        EXPECT_NEAR(points[2].t, 0.1, 1e-15);
        EXPECT_NEAR(points[2].t2E, 0.01 * energy_density(u), 1e-13);
        EXPECT_NEAR(points[2].charge, topological_charge(u), 1e-13);
    });
}

TEST_P(Flow, StopsBetweenSteps) {
    on_space([](auto on) {
        auto u = thermal(on, {{4, 4, 4, 6}}), whole = thermal(on, {{4, 4, 4, 6}});
        int asked = 0;
        const auto points = wilson_flow(u, 1, 0.05, 1, [&] { return ++asked == 4; });
        ASSERT_EQ(points.size(), 4u);
        EXPECT_NEAR(points.back().t, 0.15, 1e-15);
        wilson_flow(whole, 0.15, 0.05);
        EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(whole).links);
    });
}

TEST_P(Flow, LowersTheActionAndSmooths) {
    on_space([](auto on) {
        auto u = thermal(on, {{4, 4, 4, 6}});
        const double before = plaquette(u).mean();
        const auto points = wilson_flow(u, 1, 0.05, 2);
        ASSERT_EQ(points.size(), 11u);
        EXPECT_EQ(points.front().t, 0);
        EXPECT_EQ(points.front().t2E, 0);
        EXPECT_NEAR(points.back().t, 1, 1e-14);
        double last = 36 * (1 - before);
        for (std::size_t i = 1; i < points.size(); ++i) {
            EXPECT_NEAR(points[i].t, 0.1 * static_cast<double>(i), 1e-14);
            const double energy = points[i].t2E_plaquette / (points[i].t * points[i].t);
            EXPECT_LT(energy, last);
            last = energy;
        }
        EXPECT_NEAR(points.back().t2E, energy_density(u), 1e-13);
        EXPECT_NEAR(points.back().t2E_plaquette, 36 * (1 - plaquette(u).mean()), 1e-13);
        EXPECT_NEAR(points.back().charge, topological_charge(u), 1e-13);
        // Both definitions of E become one as fields grow smooth.
        EXPECT_GT(points.back().t2E / points.back().t2E_plaquette, 0.7);
        EXPECT_LT(points[1].t2E / points[1].t2E_plaquette, 0.5);
        for (const auto& link : to_gauge_field(u).links) EXPECT_LT(distance_from_su3(link), 5e-15);  // twenty roundings
    });
}

// A self-dual field is a minimum of the action: the flow removes noise on it, and its charge remains, 2, in the clover-leaf's measure
// 2 (sin a / a)^2 with a = 2 pi / 36, and its action, 8 pi^2 |Q| in the continuum.
TEST_P(Flow, BringsTheChargeOutOfTheNoise) {
    on_space([](auto on) {
        const Extents n{{6, 6, 6, 6}};
        Links noise(Cpu{1}, n);
        weak_start(noise, 0.4, 3);
        const auto rough = to_gauge_field(noise), smooth = constant_flux(n, {1, -1, 0}, {1, -1, 0});
        GaugeField field(n);
        for (std::size_t k = 0; k < field.links.size(); ++k) field.links[k] = rough.links[k] * smooth.links[k];
        auto u = links_on(on, field);
        const auto points = wilson_flow(u, 2.4, 0.08, 5);
        const double a = 2 * std::numbers::pi / 36, sine = std::sin(a) / a;
        EXPECT_GT(points.front().t2E_plaquette + 36 * (1 - plaquette(field).mean()), 7);  // rough, so that the start hides the charge
        EXPECT_NEAR(points.back().charge, 2 * sine * sine, 0.01);
        const double action = points.back().t2E / (2.4 * 2.4) * static_cast<double>(n.volume());
        EXPECT_NEAR(action / (8 * std::numbers::pi * std::numbers::pi), 2 * sine * sine, 0.05);
        EXPECT_GE(action / (8 * std::numbers::pi * std::numbers::pi), std::abs(points.back().charge));  // Bogomolny's bound
    });
}

TEST_P(Flow, IsGaugeCovariant) {
    on_space([](auto on) {
        const auto field = to_gauge_field(thermal(on, {{2, 4, 2, 6}}));
        const auto g = random_gauge_transformation(field.extents, 5);
        auto u = links_on(on, field), v = links_on(on, gauge_transformed(field, g));
        wilson_flow(u, 0.3, 0.06);
        wilson_flow(v, 0.3, 0.06);
        const auto expected = gauge_transformed(to_gauge_field(u), g), got = to_gauge_field(v);
        for (std::size_t k = 0; k < got.links.size(); ++k) {
            const auto apart = got.links[k] - expected.links[k];
            EXPECT_LT(std::sqrt(real_trace_times_adjoint(apart, apart)), 1e-13);
        }
    });
}

TEST(FlowOnThreads, IsTheSame) {
    const Extents n{{2, 4, 4, 6}};
    Links one(Cpu{1}, n), many(Cpu{3}, n);
    hot_start(one, 1);
    hot_start(many, 1);
    const auto a = wilson_flow(one, 0.2, 0.05), b = wilson_flow(many, 0.2, 0.05);
    EXPECT_EQ(to_gauge_field(one).links, to_gauge_field(many).links);
    EXPECT_EQ(a.back().t2E, b.back().t2E);
    EXPECT_EQ(a.back().charge, b.back().charge);
}

TEST(FlowTimes, RefusesInvalidSteps) {
    Links u(Cpu{1}, Extents{{2, 2, 2, 2}});
    cold_start(u);
    EXPECT_THROW(wilson_flow(u, 1, 0), InputError);
    EXPECT_THROW(wilson_flow(u, 1, -0.1), InputError);
    EXPECT_THROW(wilson_flow(u, -1, 0.1), InputError);
    EXPECT_THROW(wilson_flow(u, 1, 0.1, 0), InputError);
    EXPECT_THROW(wilson_flow(u, std::nan(""), 0.1), InputError);
    EXPECT_THROW(wilson_flow(u, 1, 1e-10), InputError);
    EXPECT_EQ(wilson_flow(u, 0, 0.1).size(), 1u);
    const auto key_of = [&](double t_max, double step, int every) {
        try {
            wilson_flow(u, t_max, step, every);
        } catch (const InputError& error) {
            return error.problems()[0].where.key;
        }
        return std::string();
    };
    EXPECT_EQ(key_of(1, std::nan(""), 1), "step");
    EXPECT_EQ(key_of(INFINITY, 0.1, 1), "t_max");
    EXPECT_EQ(key_of(1, 0.1, 0), "every");
}

TEST(FlowScale, IsWhereTheCurvePasses) {
    EXPECT_DOUBLE_EQ(flow_scale_t0({{0, 0, 0, 0}, {1, 0.2, 0, 0}, {3, 0.4, 0, 0}, {4, 0.5, 0, 0}}), 2);
    EXPECT_DOUBLE_EQ(flow_scale_t0({{0, 0, 0, 0}, {1, 0.3, 0, 0}}), 1);
    EXPECT_TRUE(std::isnan(flow_scale_t0({{0, 0, 0, 0}, {1, 0.2, 0, 0}, {3, 0.29, 0, 0}})));
    EXPECT_TRUE(std::isnan(flow_scale_t0({})));
}

}  // namespace
}  // namespace kasane::lattice
