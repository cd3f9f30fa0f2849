// Gauge actions of plaquettes and rectangles: loops by paths, forces by finite differences, gauge covariance.
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <lattice/gauge/cases.hpp>
#include <lattice/hmc/finite_differences.hpp>
#include <lattice/lattice_space.hpp>
#include <lattice/random_fields.hpp>
#include <reference/gauge_loops.hpp>

#include <cmath>

namespace kasane::lattice {
namespace {

constexpr Extents tiny{{2, 2, 2, 2}}, mixed{{4, 2, 2, 6}};

template <Space S>
GaugeField force_of(S on, const GaugeField& field, const GaugeAction& action, double factor = 1) {
    const auto u = links_on(on, field);
    Links<S> force(on, field.extents);
    set_zero(force);
    add_gauge_force(u, action, factor, force);
    return to_gauge_field(force);
}

double distance(const Su3<double>& a, const Su3<double>& b) { return std::sqrt(real_trace_times_adjoint(a - b, a - b)); }

class GaugeActions : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(GaugeActions);

TEST_P(GaugeActions, LoopsAreThoseOfThePaths) {
    on_space([](auto on) {
        for (const auto& n : {tiny, mixed, unequal_extents}) {
            const auto field = test::random_gauge(n, 3, 0.7);
            const double plaquettes = reference::deficit(field, reference::all_plaquettes());
            const double rectangles = reference::deficit(field, reference::all_rectangles());
            const auto u = links_on(on, field);
            const auto means = loop_means(u);
            const auto sites = static_cast<double>(n.volume());
            EXPECT_NEAR(means.plaquette, 1 - plaquettes / (6 * sites), 1e-14);  // roundings of 1e-16 in a mean
            EXPECT_NEAR(means.rectangle, 1 - rectangles / (12 * sites), 1e-14);
            EXPECT_NEAR(means.plaquette, plaquette(u).mean(), 1e-14);
            for (const auto& [name, c1, paper] : gauge_actions) {
                const GaugeAction action{5.7, c1};
                const double expected = 5.7 * ((1 - 8 * c1) * plaquettes + c1 * rectangles);
                EXPECT_NEAR(gauge_action(u, action), expected, 1e-13 * 5.7 * (12 * plaquettes + 2 * rectangles)) << name;
            }
        }
    });
}

TEST_P(GaugeActions, ForceIsTheSumOverThePathsThroughALink) {
    on_space([](auto on) {
        for (const auto& n : {tiny, mixed}) {
            const auto field = test::random_gauge(n, 5);
            const auto plaquettes = reference::loops_through_links(field, reference::all_plaquettes());
            const auto rectangles = reference::loops_through_links(field, reference::all_rectangles());
            for (const auto& [name, c1, paper] : gauge_actions) {
                const GaugeAction action{2.3, c1};
                const auto force = force_of(on, field, action, 0.5);
                double worst = 0;
                for (std::size_t link = 0; link < force.links.size(); ++link) {
                    Su3<double> w;
                    for (std::size_t i = 0; i < 3; ++i)
                        for (std::size_t j = 0; j < 3; ++j) {
                            const auto entry = action.c0() * plaquettes[link][i][j] + c1 * rectangles[link][i][j];
                            w.e[i][j] = {entry.real(), entry.imag()};
                        }
                    auto expected = traceless_antihermitian(w);
                    expected *= 0.5 * 2.3 / 6;
                    worst = std::max(worst, distance(force.links[link], expected));
                }
                EXPECT_LT(worst, 1e-12) << name << ' ' << text(n);  // up to 24 products of five matrices, weights up to 12
            }
        }
    });
}

// Six points at 0.02: 0.02^6 / 140 = 5e-13 times the seventh derivative, some 100 beta; and rounding of an action of 1e4, 1e-12, over the
// step.
TEST_P(GaugeActions, ForceIsTheDerivativeOfTheAction) {
    on_space([](auto on) {
        for (const auto& n : {tiny, mixed})
            for (const auto& [name, c1, paper] : gauge_actions) {
                SCOPED_TRACE(name);
                const GaugeAction action{5.5, c1};
                const auto field = test::random_gauge(n, 7);
                const auto value = [&](const GaugeField& moved) { return gauge_action(links_on(on, moved), action); };
                test::expect_force(field, force_of(on, field, action), value, 1e-8, n == tiny ? 3 : 29);
            }
    });
}

TEST_P(GaugeActions, IsGaugeCovariant) {
    on_space([](auto on) {
        const auto field = test::random_gauge(mixed, 9);
        const auto g = test::random_transformation(mixed, 11);
        const auto turned = test::transformed(field, g);
        for (const auto& [name, c1, paper] : gauge_actions) {
            const GaugeAction action{3, c1};
            const double before = gauge_action(links_on(on, field), action);
            EXPECT_NEAR(gauge_action(links_on(on, turned), action), before, 1e-12 * std::abs(before)) << name;
            const auto f = force_of(on, field, action), of_turned = force_of(on, turned, action);
            double worst = 0;
            for (index_t x = 0; x < mixed.volume(); ++x)
                for (int mu = 0; mu < 4; ++mu) {
                    const auto& here = g[static_cast<std::size_t>(x)];
                    worst = std::max(worst, distance(of_turned.link(x, mu), times_adjoint(here * f.link(x, mu), here)));
                }
            EXPECT_LT(worst, 1e-12) << name;
        }
    });
}

TEST_P(GaugeActions, TheColdFieldHasNoActionAndNoForce) {
    on_space([](auto on) {
        const auto field = test::unit_gauge(mixed);
        for (const auto& [name, c1, paper] : gauge_actions) {
            EXPECT_EQ(gauge_action(links_on(on, field), {6, c1}), 0) << name;
            for (const auto& f : force_of(on, field, {6, c1}).links) EXPECT_EQ(real_trace_times_adjoint(f, f), 0) << name;
        }
        EXPECT_EQ(loop_means(links_on(on, field)).rectangle, 1);
    });
}

TEST_P(GaugeActions, ForceIsAdded) {
    on_space([](auto on) {
        const auto field = test::random_gauge(tiny, 1);
        const auto u = links_on(on, field);
        auto force = links_on(on, test::random_gauge(tiny, 2));
        add_gauge_force(u, {4, -0.2}, 0.3, force);
        const auto alone = force_of(on, field, {4, -0.2}, 0.3), before = test::random_gauge(tiny, 2), after = to_gauge_field(force);
        for (std::size_t k = 0; k < after.links.size(); ++k) EXPECT_LT(distance(after.links[k], before.links[k] + alone.links[k]), 1e-14);
    });
}

TEST(GaugeActionsOnThreads, AreTheSame) {
    const auto field = test::random_gauge(unequal_extents, 4);
    const GaugeAction action{5.7, -0.331};
    EXPECT_EQ(gauge_action(links_on(Cpu{1}, field), action), gauge_action(links_on(Cpu{3}, field), action));
    EXPECT_EQ(force_of(Cpu{1}, field, action).links, force_of(Cpu{3}, field, action).links);
}

}  // namespace
}  // namespace kasane::lattice
