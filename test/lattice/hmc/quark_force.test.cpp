// Forces of the quark action: six-point finite differences of each term's own action in every direction of su(3), for both boundary
// conditions, with and without clover term; gauge covariance; and the sum over all links in one direction of phase space.
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>

#include "lattice/hmc/finite_differences.hpp"
#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <limits>

namespace kasane::lattice {
namespace {

const Extents force_lattices[] = {{{2, 2, 2, 4}}, {{4, 4, 4, 4}}, {{2, 6, 4, 2}}};
constexpr QuarkTolerances force_solves{.value = 1e-13, .force = 1e-13};
// Values of a few hundred are known to 1e-12 or so, over 60 steps of 0.02 with weights of 45: 1e-10 to 1e-9; the seventh derivative's term
// is smaller.
constexpr double force_tolerance = 1e-7;

template <Space S>
Links<S> no_force(S on, const Extents& n) {
    GaugeField zero(n);
    for (auto& link : zero.links) link = Su3<double>::zero();
    return links_on(on, zero);
}

class QuarkForce : public LatticeOnEverySpace {
   protected:
    /// Compares the force of a term with finite differences of its value for some links in all directions, and for a move of all links.
    template <Space S>
    void expect_derivative(S on, const GaugeField& u, ActionTerm<S>& term, int every) {
        const auto links = links_on(on, u);
        term.refresh(links, 21, 22);
        auto force = no_force(on, u.extents);
        term.add_force(links, 1, force);
        const auto found = to_gauge_field(force);
        const auto action = [&](const GaugeField& moved) { return term.value(links_on(on, moved)); };
        test::expect_force(u, found, action, force_tolerance, every);

        // U -> exp(k step X) U of all links: dS / dk = -2 sum tr(F X) = 2 sum Re tr(F X^+)
        std::mt19937_64 generator(23);
        GaugeField direction(u.extents);
        double expected = 0;
        for (std::size_t i = 0; i < u.links.size(); ++i) {
            std::normal_distribution<double> normal;
            Su3<double> a{};
            for (auto& row : a.e)
                for (auto& entry : row) entry = {normal(generator), normal(generator)};
            direction.links[i] = traceless_antihermitian(a);
            expected += 2 * real_trace_times_adjoint(found.links[i], direction.links[i]);
        }
        constexpr double step = 0.002;
        const auto at = [&](int k) {
            auto moved = u;
            for (std::size_t i = 0; i < u.links.size(); ++i) {
                auto x = direction.links[i];
                x *= k * step;
                moved.links[i] = exponential(x) * u.links[i];
            }
            return action(moved);
        };
        const double derivative = (at(3) - at(-3) - 9 * (at(2) - at(-2)) + 45 * (at(1) - at(-1))) / (60 * step);
        EXPECT_NEAR(derivative, expected, 1e-6 * std::sqrt(static_cast<double>(u.links.size())));

        // The factor, and what was in the force before.
        term.add_force(links, -0.5, force);
        const auto half = to_gauge_field(force);
        for (std::size_t i = 0; i < half.links.size(); ++i) {
            const auto rest = half.links[i] + half.links[i] - found.links[i];
            EXPECT_LT(std::sqrt(real_trace_times_adjoint(rest, rest)), 1e-10);
        }
    }
};
KS_ON_LATTICE_SPACES(QuarkForce);

TEST_P(QuarkForce, PseudofermionForceIsTheDerivativeOfItsAction) {
    for (const auto& n : force_lattices)
        for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
            for (const double csw : {0., 1.2}) {
                SCOPED_TRACE(text(n) + " " + name(boundary) + (csw == 0 ? " Wilson" : " clover"));
                on_space([&](auto on) {
                    using S = decltype(on);
                    auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.12, csw, boundary});
                    PseudofermionTerm<S> term(D, 0, 0, {}, force_solves);
                    expect_derivative(on, test::random_gauge(n, 311), term, n.volume() > 100 ? 341 : 37);
                });
            }
}

TEST_P(QuarkForce, HasenbuschForcesAreDerivativesOfTheirActions) {
    const Extents n{{2, 2, 4, 2}};
    on_space([&](auto on) {
        using S = decltype(on);
        auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.12, 1.2, Boundary::antiperiodic});
        for (const auto& [mu, heavier] : {std::pair<double, std::optional<double>>{0.4, {}}, {0., 0.5}, {0.2, 0.9}}) {
            SCOPED_TRACE(std::to_string(mu) + " " + std::to_string(heavier.value_or(0)));
            PseudofermionTerm<S> term(D, 1, mu, heavier, force_solves);
            expect_derivative(on, test::random_gauge(n, 312), term, 61);
        }
    });
}

TEST_P(QuarkForce, TwistedForcesAreDerivativesOfTheirActions) {
    const Extents n{{2, 2, 4, 2}};
    on_space([&](auto on) {
        using S = decltype(on);
        for (const double csw : {0., 2.}) {
            const QuarkParameters twisted({0.15, csw, Boundary::antiperiodic}, 0.4);
            auto D = std::make_shared<QuarkOperator<S>>(on, n, twisted);
            PseudofermionTerm<S> term(D, 0, 0, {}, force_solves);
            expect_derivative(on, test::random_gauge(n, 318), term, 61);
            if (csw == 0) continue;
            CloverDeterminantTerm<S> determinant(D);
            expect_derivative(on, test::random_gauge(n, 319), determinant, 11);
        }
    });
}

TEST_P(QuarkForce, DeterminantForceIsTheDerivativeOfItsAction) {
    for (const auto& n : force_lattices)
        on_space([&](auto on) {
            using S = decltype(on);
            auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.15, 2, Boundary::antiperiodic});
            CloverDeterminantTerm<S> term(D);
            expect_derivative(on, test::random_gauge(n, 313), term, n.volume() > 100 ? 101 : 5);
        });
}

TEST_P(QuarkForce, RationalForcesAreDerivativesOfTheirActions) {
    on_space([&](auto on) {
        using S = decltype(on);
        for (const auto& n : {Extents{{2, 2, 2, 4}}, Extents{{2, 2, 4, 2}}, Extents{{2, 6, 4, 2}}})
            for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
                for (const double csw : {0., 1.2}) {
                    SCOPED_TRACE(text(n) + " " + name(boundary) + (csw == 0 ? " Wilson" : " clover"));
                    auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.12, csw, boundary});
                    // A force is the derivative of its action whatever the range: also outside it.
                    RationalTerm<S> term(D, 2, inverse_root(0.02, 4, 6), force_solves);
                    expect_derivative(on, test::random_gauge(n, 324), term, n.volume() > 50 ? 191 : 61);
                }
        const Extents n{{2, 2, 2, 4}};
        auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.15, 3, Boundary::antiperiodic});
        CloverDeterminantTerm<S> determinant(D, 1);
        expect_derivative(on, test::random_gauge(n, 325), determinant, 11);
    });
}

TEST_P(QuarkForce, IsGaugeCovariant) {
    const Extents n{{4, 2, 6, 4}};
    const auto u = test::random_gauge(n, 314);
    const auto g = test::random_transformation(n, 315);
    const auto psi = test::random_spinor(n, 316);
    const auto force_of = [&](auto on, const GaugeField& links, const SpinorField& x) {
        using S = decltype(on);
        QuarkOperator<S> D(on, n, DiracParameters{0.13, 1.5, Boundary::antiperiodic});
        const auto there = links_on(on, links);
        D.pack(there);
        auto field = D.vector();
        load(x, Parity::even, field);
        auto force = no_force(on, n);
        D.add_force(there, field, 1, force);
        D.add_determinant_force(there, 1, force);
        return to_gauge_field(force);
    };
    on_space([&](auto on) {
        const auto before = force_of(on, u, psi), after = force_of(on, test::transformed(u, g), test::transformed(psi, g));
        double worst = 0, largest = 0;
        for (index_t x = 0; x < n.volume(); ++x)
            for (int mu = 0; mu < 4; ++mu) {
                const auto& at = g[static_cast<std::size_t>(x)];
                const auto difference = after.link(x, mu) - times_adjoint(at * before.link(x, mu), at);
                worst = std::max(worst, std::sqrt(real_trace_times_adjoint(difference, difference)));
                largest = std::max(largest, std::sqrt(real_trace_times_adjoint(before.link(x, mu), before.link(x, mu))));
            }
        EXPECT_LT(worst, 1000 * std::numeric_limits<double>::epsilon() * largest);
    });
}

TEST_P(QuarkForce, DoesNotDependOnThePrecisionOfTheIteration) {
    const Extents n{{4, 4, 2, 6}};
    const auto u = test::random_gauge(n, 317, 0.4);
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        std::vector<GaugeField> forces;
        for (const auto inner : {Precision::double_, Precision::single, Precision::half}) {
            auto D = std::make_shared<QuarkOperator<S>>(on, n, DiracParameters{0.13, 1, Boundary::antiperiodic},
                                                        QuarkSolverOptions{.inner = inner});
            PseudofermionTerm<S> term(D, 0, 0, {}, {.value = 1e-12, .force = 1e-12});
            term.refresh(links, 1, 2);
            auto force = no_force(on, n);
            term.add_force(links, 1, force);
            forces.push_back(to_gauge_field(force));
        }
        for (std::size_t k = 1; k < forces.size(); ++k)
            for (std::size_t i = 0; i < u.links.size(); ++i) {
                const auto difference = forces[k].links[i] - forces[0].links[i];
                EXPECT_LT(std::sqrt(real_trace_times_adjoint(difference, difference)), 1e-8);
            }
    });
}

}  // namespace
}  // namespace kasane::lattice
