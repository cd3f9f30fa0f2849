// Solves in the molecular dynamics of quarks: first guesses from earlier solutions, their effect on reversibility, precisions of forces,
// and any number of time scales.
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <lattice/lattice_space.hpp>

#include <algorithm>
#include <complex>
#include <cmath>
#include <memory>

namespace kasane::lattice {
namespace {

struct DynamicsRun {
    QuarkParameters quarks{{0.13, 1.5, Boundary::antiperiodic}};
    std::vector<double> masses = {0.3};
    QuarkTolerances tolerances = {.value = 1e-12, .force = 1e-12};
    QuarkSolverOptions solver = {};
    std::vector<int> steps = {6, 2};  ///< of each time scale: lightest field first, the gauge action alone on the last one
    double length = 1;
    std::uint64_t seed = 1;
};

/// Where there are fewer time scales than fields, the last one before that of the gauge action has the rest of the quarks.
template <Space S>
HybridMonteCarlo<S> dynamics(S on, const Extents& n, const DynamicsRun& run) {
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{5.6, 0}));
    std::vector<Level> levels;
    for (const int steps : run.steps) levels.push_back({Integrator::omelyan2, steps, {}});
    auto D = std::make_shared<QuarkOperator<S>>(on, n, run.quarks, run.solver);
    for (auto& term : quark_action<S>(D, run.masses, run.tolerances)) {
        levels[std::min(terms.size() - 1, run.steps.size() - 2)].terms.push_back(static_cast<int>(terms.size()));
        terms.push_back(std::move(term));
    }
    levels.back().terms = {0};
    return {on, n, std::move(terms), std::move(levels), run.length, run.seed};
}

template <Space S>
Links<S> dynamics_start(S on, const Extents& n) {
    Links u(Cpu{1}, n);
    hot_start(u, 1);
    for (std::uint64_t sweep = 0; sweep < 30; ++sweep) heatbath_sweep(u, 5.7, 1, sweep);
    return links_on(on, to_gauge_field(u));
}

class QuarkDynamics : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(QuarkDynamics);

TEST_P(QuarkDynamics, AGuessIsTheBestCombinationOfSolutions) {
    on_space([](auto on) {
        using Space = decltype(on);
        const Extents n{{4, 2, 2, 4}};
        QuarkOperator<Space> D(on, n, {{0.13, 1.5, Boundary::antiperiodic}});
        D.pack(dynamics_start(on, n));
        constexpr double mu = 0.2;
        auto phi = D.vector(), x = D.vector(), guess = D.vector(), image = D.vector();
        std::vector<typename QuarkOperator<Space>::Vector> v;
        for (int k = 0; k < 4; ++k) {
            v.push_back(D.vector());
            gaussian_field(3, 0, k, Parity::even, v.back());
        }
        ChronologicalGuess<Space> guesses(3);
        guesses.guess(D, mu, v[0], guess);
        EXPECT_EQ(D.norm2(guess), 0) << "without solutions";
        for (const auto& each : v) guesses.add(D, each);  // the first one is forgotten

        // A solution in their span is found, with complex weights.
        D.axpby(std::complex(0.3, 1.2), v[1], 0, x);
        D.axpby(-2, v[2], 1, x);
        D.axpby(std::complex(0., 0.7), v[3], 1, x);
        D.apply_normal(mu, x, phi);
        guesses.guess(D, mu, phi, guess);
        D.axpby(-1, x, 1, guess);
        EXPECT_LT(std::sqrt(D.norm2(guess) / D.norm2(x)), 1e-13 * 100);  // rounding times the condition of the three vectors, some ten

        // Of any other one the error is orthogonal, in the product with A, to all three, and shorter than without them.
        D.axpby(1, v[0], 0, x);
        D.apply_normal(mu, x, phi);
        guesses.guess(D, mu, phi, guess);
        D.axpby(-1, x, 1, guess);
        D.apply_normal(mu, guess, image);
        for (int k = 1; k < 4; ++k) EXPECT_LT(std::abs(D.inner_product(v[static_cast<std::size_t>(k)], image)), 1e-11 * D.norm2(x)) << k;
        EXPECT_LT(D.dot(guess, image), D.dot(x, phi));

        // The same solution twice, and one that differs by rounding, do no harm.
        ChronologicalGuess<Space> again(5);
        again.add(D, v[1]);
        again.add(D, v[1]);
        D.axpby(1 + 1e-15, v[1], 0, image);
        again.add(D, image);
        D.axpby(2, v[1], 0, x);
        D.apply_normal(mu, x, phi);
        again.guess(D, mu, phi, guess);
        D.axpby(-1, x, 1, guess);
        EXPECT_LT(std::sqrt(D.norm2(guess) / D.norm2(x)), 1e-13);
        again.clear();
        again.guess(D, mu, phi, guess);
        EXPECT_EQ(D.norm2(guess), 0) << "after clear()";
    });
}

// Guesses differ on the way back, so that forces differ within their tolerance.
TEST_P(QuarkDynamics, WithGuessesTheViolationOfReversibilityFallsWithTheTolerance) {
    on_space([](auto on) {
        const Extents n{{4, 2, 4, 4}};
        const auto start = to_gauge_field(dynamics_start(on, n));
        const double root_volume = std::sqrt(static_cast<double>(n.volume()));
        int plain = 0, guessed = 0;
        double last = 0;
        for (const double force : {1e-5, 1e-8, 1e-11}) {
            const auto back = [&](int chronological, int& iterations) {
                auto u = links_on(on, start);
                const auto done = dynamics(on, n, {.tolerances = {.value = 1e-12, .force = force, .chronological = chronological}})
                                      .trajectory(u, 3, true, nullptr, {}, true);
                iterations = done->terms[1].force_iterations + done->terms[2].force_iterations;
                EXPECT_GT(done->terms[1].iterations, done->terms[1].force_iterations);  // those of the action
                return done->reversibility->distance;
            };
            back(0, plain);
            const double distance = back(4, guessed);
            EXPECT_LT(guessed, plain) << force;
            EXPECT_LT(distance, 100 * force * root_volume) << force;
            if (last > 0) {
                EXPECT_LT(distance, last / 30) << force;  // of a factor of 1000
            }
            last = distance;
        }
    });
}

// A trajectory does not depend on those before it: guesses are forgotten where it begins, so that a run may stop between any two.
TEST_P(QuarkDynamics, GuessesAreForgottenBetweenTrajectories) {
    on_space([](auto on) {
        const Extents n{{2, 2, 4, 4}};
        const DynamicsRun run{.tolerances = {.value = 1e-9, .force = 1e-4, .chronological = 5}, .steps = {3, 2}};
        auto all = dynamics(on, n, run);
        auto u = dynamics_start(on, n);
        all.trajectory(u, 0);
        all.trajectory(u, 1, true, nullptr, {}, true);
        auto v = links_on(on, to_gauge_field(u));
        const auto a = all.trajectory(u, 2), b = dynamics(on, n, run).trajectory(v, 2);
        EXPECT_EQ(a->dH, b->dH);
        EXPECT_EQ(to_gauge_field(u).links, to_gauge_field(v).links);
    });
}

TEST_P(QuarkDynamics, ForcesHaveAPrecisionOfTheirOwn) {
    on_space([](auto on) {
        const Extents n{{2, 4, 2, 4}};
        const auto start = to_gauge_field(dynamics_start(on, n));
        const QuarkTolerances loose{.value = 1e-11, .force = 1e-7};
        const auto run = [&](const QuarkSolverOptions& solver) {
            auto u = links_on(on, start);
            return dynamics(on, n, {.tolerances = loose, .solver = solver}).trajectory(u, 3)->dH;
        };
        const double both = run({.inner = Precision::double_});
        const double mixed = run({.inner = Precision::double_, .force = Precision::half}), single = run({.inner = Precision::single});
        EXPECT_EQ(run({.inner = Precision::single, .force = Precision::single}), single);
        EXPECT_NE(mixed, both) << "rounding must show";
        EXPECT_NEAR(mixed, both, 1e-4);  // the tolerance, times a force of some hundred numbers on each of 256 links
        EXPECT_NEAR(single, both, 1e-4);
        using Operator = QuarkOperator<decltype(on)>;
        const QuarkParameters quarks{{0.13, 1.5, Boundary::antiperiodic}};
        EXPECT_EQ(Operator::bytes_per_site(quarks, {.force = Precision::single}), Operator::bytes_per_site(quarks, {}));
        EXPECT_GT(Operator::bytes_per_site(quarks, {.force = Precision::half}), Operator::bytes_per_site(quarks, {}));
    });
}

// One time scale for all quarks, and one for each field: dH is small for both, and the plaquette is the same.
TEST_P(QuarkDynamics, PhysicsDoesNotDependOnTheTimeScales) {
    on_space([](auto on) {
        const Extents n{{2, 2, 2, 4}};
        std::vector<Estimate> plaquettes;
        for (const auto& steps : {std::vector{4, 2}, {2, 2, 2}}) {
            auto hmc = dynamics(on, n, {.tolerances = {.value = 1e-9, .force = 1e-6}, .steps = steps, .seed = 11 + plaquettes.size()});
            auto u = dynamics_start(on, n);
            std::vector<double> values, weights;
            for (std::uint64_t number = 0; number < 140; ++number) {
                const auto done = hmc.trajectory(u, number);
                EXPECT_LT(std::abs(done->dH), 3) << number;
                if (number < 20) continue;
                values.push_back(plaquette(u).mean());
                weights.push_back(std::exp(-done->dH));
            }
            plaquettes.push_back(estimate(values));
            const auto weight = estimate(weights);
            EXPECT_NEAR(weight.mean, 1, 4 * weight.error);
            EXPECT_LT(plaquettes.back().error, 0.01);
        }
        EXPECT_NEAR(plaquettes[0].mean, plaquettes[1].mean, 4 * std::hypot(plaquettes[0].error, plaquettes[1].error));
    });
}

}  // namespace
}  // namespace kasane::lattice
