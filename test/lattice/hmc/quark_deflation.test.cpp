// Deflated solves of the quark action: residuals and solutions against conjugate gradients, the life of the subspace, trajectories.
#include <kasane/lattice/gauge/transform.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_deflation.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <kasane/core/base/error.hpp>

#include <cmath>
#include <vector>

namespace kasane::lattice {
namespace {

const Extents deflated_lattice{{4, 8, 4, 8}};
constexpr int subspace_vectors = 8;

QuarkSolverOptions deflated_options(int vectors = subspace_vectors) {
    QuarkSolverOptions options;
    options.deflation.vectors = vectors;
    options.iteration_limit = 20'000;
    return options;
}
const QuarkParameters light{DiracParameters{.kappa = 0.135, .csw = 1.2}};

class QuarkDeflations : public LatticeOnEverySpace {
   protected:
    template <Space S>
    using Operator = QuarkOperator<S>;

    /// Links of a smooth field.
    static GaugeField smooth(std::uint64_t seed = 3) { return test::random_gauge(deflated_lattice, seed, 0.3); }

    /// |phi - Dhat^+ Dhat x| / |phi|
    template <Space S>
    static double residual(const Operator<S>& D, const typename Operator<S>::Vector& phi, const typename Operator<S>::Vector& x) {
        auto r = D.vector();
        D.apply_normal(0, x, r);
        D.axpby(1, phi, -1, r);
        return std::sqrt(D.norm2(r) / D.norm2(phi));
    }
};
KS_ON_LATTICE_SPACES(QuarkDeflations);

TEST_P(QuarkDeflations, SolveToTheirTolerance) {
    on_space([&]<Space S>(S on) {
        for (const double csw : {0., 1.2}) {
            const QuarkParameters parameters{DiracParameters{.kappa = 0.135, .csw = csw}};
            Operator<S> D(on, deflated_lattice, parameters, deflated_options()), plain(on, deflated_lattice, parameters);
            const auto u = links_on(on, smooth());
            D.pack(u), plain.pack(u);
            auto phi = D.vector(), x = D.vector(), expected = D.vector();
            D.gaussian(5, 1, 0, phi);
            for (const double rtol : {1e-5, 1e-8, 1e-12}) {
                D.axpby(0, phi, 0, x);
                const auto log = D.solve_deflated(u, phi, x, rtol);
                EXPECT_TRUE(log.converged()) << rtol;
                EXPECT_LE(residual<S>(D, phi, x), rtol) << csw;
                EXPECT_LT(log.iterations, 60) << rtol;
            }
            plain.axpby(0, phi, 0, expected);
            const auto iterations = plain.solve(0, phi, expected, 1e-12).iterations;
            EXPECT_GT(iterations, 60) << "the test needs a solve that deflation makes shorter";
            plain.axpby(-1, expected, 1, x);
            EXPECT_LT(std::sqrt(plain.norm2(x) / plain.norm2(expected)), 1e-8);
            // From a good guess few iterations are left; from the solution none.
            D.axpby(1, expected, 0, x);
            EXPECT_EQ(D.solve_deflated(u, phi, x, 1e-10).iterations, 0);
            D.axpby(1e-4, phi, 1, x);
            const auto guessed = D.solve_deflated(u, phi, x, 1e-8);
            EXPECT_LE(residual<S>(D, phi, x), 1e-8);
            EXPECT_GT(guessed.iterations, 0);
            D.axpby(0, phi, 0, phi);
            EXPECT_TRUE(D.solve_deflated(u, phi, x, 1e-8).converged());
            EXPECT_EQ(D.norm2(x), 0);
        }
    });
}

TEST_P(QuarkDeflations, FollowTheLinks) {
    on_space([&]<Space S>(S on) {
        Operator<S> D(on, deflated_lattice, light, deflated_options());
        auto u = links_on(on, smooth());
        Links<S> p(on, deflated_lattice);
        draw_momenta(p, 11, 1);
        auto phi = D.vector(), x = D.vector(), again = D.vector();
        D.gaussian(5, 1, 0, phi);
        const auto solve = [&](typename Operator<S>::Vector& to) {
            D.pack(u);
            D.axpby(0, phi, 0, to);
            const auto log = D.solve_deflated(u, phi, to, 1e-9);
            EXPECT_LE(residual<S>(D, phi, to), 1e-9);
            return log.iterations;
        };
        const int first = solve(x);
        int most = 0;
        for (int step = 0; step < 8; ++step) {
            move_links(u, p, 0.05);
            most = std::max(most, solve(x));
        }
        EXPECT_LT(most, 2 * first) << "the subspace of links that moved by 0.4";
        // A subspace that is forgotten is a function of the links alone.
        D.forget_subspace();
        const int fresh = solve(x);
        Operator<S> other(on, deflated_lattice, light, deflated_options());
        other.pack(u);
        other.axpby(0, phi, 0, again);
        EXPECT_EQ(other.solve_deflated(u, phi, again, 1e-9).iterations, fresh);
        other.axpby(-1, x, 1, again);
        EXPECT_EQ(other.norm2(again), 0);
    });
}

TEST_P(QuarkDeflations, ImproveASubspaceThatLinksHaveLeft) {
    on_space([&]<Space S>(S on) {
        const DiracParameters parameters{.kappa = 0.16, .csw = 1.2};
        CoherentOptions options{.vectors = 16, .smoother_steps = 4};
        const auto lattice = std::make_shared<const Lattice<S>>(on, deflated_lattice);
        QuarkDeflation<S> deflation(lattice, parameters, options);
        Operator<S> D(on, deflated_lattice, parameters);
        auto phi = D.vector(), x = D.vector();
        D.gaussian(5, 1, 0, phi);
        std::uint64_t packing = 0;
        const auto solve = [&](const GaugeField& field) {
            const auto u = links_on(on, field);
            CloverTerm<S> A = clover_term(u, parameters.kappa * parameters.csw);
            const SchurOperator<S, Precision::double_> outer(lattice, u, &A, parameters, 0, {});
            D.pack(u);
            D.axpby(0, phi, 0, x);
            const auto log = deflation.solve(outer, u, &A, ++packing, phi, x, 1e-9, 10'000);
            EXPECT_TRUE(log.converged());
            EXPECT_LE(residual<S>(D, phi, x), 1e-9);
            return log.iterations;
        };
        // Gauge transformations near 1 rotate the low modes and leave the eigenvalues.
        auto field = test::random_gauge(deflated_lattice, 3, 0.5);
        const int fresh = solve(field);
        int before = fresh, found = fresh;
        for (std::uint64_t step = 1; step < 20 && deflation.improvements() == 0; ++step) {
            const auto near_one = test::random_gauge(deflated_lattice, 100 + step, 0.1);
            std::vector<Su3<double>> g;
            for (std::size_t i = 0; i < near_one.links.size(); i += 4) g.push_back(near_one.links[i]);
            field = gauge_transformed(field, g);
            before = found, found = solve(field);
        }
        EXPECT_EQ(deflation.improvements(), 1);
        EXPECT_GT(before, fresh);
        EXPECT_LT(found, before);
        deflation.forget();
        solve(field);
        EXPECT_EQ(deflation.improvements(), 0);
    });
}

TEST_P(QuarkDeflations, GiveUpBeyondTheCriticalKappa) {
    on_space([&]<Space S>(S on) {
        const QuarkParameters beyond{DiracParameters{.kappa = 0.145, .csw = 1.2}};
        Operator<S> D(on, deflated_lattice, beyond, deflated_options()), plain(on, deflated_lattice, beyond);
        const auto u = links_on(on, smooth());
        D.pack(u), plain.pack(u);
        auto phi = D.vector(), x = D.vector();
        D.gaussian(5, 1, 0, phi);
        const auto solve = [&](Operator<S>& with) {
            with.axpby(0, phi, 0, x);
            const auto log = with.solve_deflated(u, phi, x, 1e-9);
            EXPECT_LE(residual<S>(with, phi, x), 1e-9);
            return log.iterations;
        };
        const int conjugate_gradients = solve(plain), tried = solve(D);
        EXPECT_GT(tried, conjugate_gradients);
        EXPECT_EQ(solve(D), conjugate_gradients) << "which solve alone from there on";
        D.forget_subspace();
        EXPECT_EQ(solve(D), tried);
    });
}

TEST_P(QuarkDeflations, TrajectoriesAreThoseOfPlainSolves) {
    on_space([&]<Space S>(S on) {
        struct End {
            double dH = 0;
            Reversibility back;
            GaugeField links;
            int iterations = 0;
        };
        const auto run = [&](int vectors, double rtol) {
            auto D = std::make_shared<Operator<S>>(on, deflated_lattice, light, deflated_options(vectors));
            typename HybridMonteCarlo<S>::Terms terms;
            terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{5.6, 0}));
            for (auto& term : quark_action<S>(D, {0.3}, {.value = 1e-12, .force = rtol, .chronological = 2}))
                terms.push_back(std::move(term));
            std::vector<int> quarks;
            for (int term = 1; term < std::ssize(terms); ++term) quarks.push_back(term);
            HybridMonteCarlo<S> hmc(on, deflated_lattice, std::move(terms),
                                    {{Integrator::omelyan2, 2, quarks}, {Integrator::omelyan2, 2, {0}}}, 0.2, 7);
            auto u = links_on(on, smooth());
            End end;
            for (const bool reverse : {false, true}) {
                const auto result = *hmc.trajectory(u, reverse ? 2 : 1, false, nullptr, {}, reverse);
                end.dH = result.dH;
                if (result.reversibility) end.back = *result.reversibility;
                end.iterations += result.terms[1].iterations;
            }
            end.links = to_gauge_field(u);
            return end;
        };
        const auto plain = run(0, 1e-11), deflated = run(subspace_vectors, 1e-11), rough = run(subspace_vectors, 1e-6);
        EXPECT_NEAR(deflated.dH, plain.dH, 1e-6);
        EXPECT_LT(distance(links_on(on, deflated.links), links_on(on, plain.links)), 1e-8);
        EXPECT_LT(deflated.iterations, plain.iterations / 3);
        EXPECT_LT(deflated.back.distance, 1e-7);
        EXPECT_LT(std::abs(deflated.back.dH), 1e-6);
        EXPECT_LT(rough.back.distance, 1e-2);
        EXPECT_GT(rough.back.distance, deflated.back.distance);
        // The next trajectory has a subspace of its own.
        const auto again = run(subspace_vectors, 1e-11);
        EXPECT_EQ(again.dH, deflated.dH);
        EXPECT_EQ(again.links.links, deflated.links.links);
    });
}

TEST_P(QuarkDeflations, RefuseWhatTheyCannotSolve) {
    on_space([&]<Space S>(S on) {
        EXPECT_THROW(Operator<S>(on, deflated_lattice, {light.dirac, 0.1}, deflated_options()), InputError);
        EXPECT_THROW(Operator<S>(on, deflated_lattice, light, deflated_options(-1)), InputError);
        auto options = deflated_options();
        options.deflation.block[0] = 3;
        EXPECT_THROW(Operator<S>(on, deflated_lattice, light, options), InputError);
    });
}

}  // namespace
}  // namespace kasane::lattice
