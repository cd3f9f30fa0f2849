// The Wilson-clover solver against the textbook operator of test/reference: every method, precision, form and storage leaves the true
// residual that it reports, and all find the same x. Tolerances: x differs by the residual times the inverse's norm, which is below 20 for
// the fields used here (kappa 0.11 on rough links).
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>
#include <kasane/lattice/solve/solver.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>
#include <lattice/lattice_space.hpp>
#include <lattice/random_fields.hpp>
#include <reference/wilson.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kasane::lattice {
namespace {

using reference::WilsonClover;
using test::random_gauge;
using test::random_spinor;

constexpr DiracParameters clover{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};
constexpr double rough = 0.4;  // of the links: mean plaquette about a half
constexpr Method methods[] = {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement};
constexpr Precision precisions[] = {Precision::half, Precision::single, Precision::double_};

WilsonClover oracle(const GaugeField& u, const DiracParameters& p) { return {u, p.kappa, p.csw, p.boundary == Boundary::antiperiodic}; }

double residual(const WilsonClover& D, const SpinorField& b, const SpinorField& x) {
    return reference::norm(reference::combination(1, b, -1, D.apply(x))) / reference::norm(b);
}

/// Conjugate gradients on D^+ D x = D^+ b with the textbook operator: no even or odd sites, no mixed precision.
SpinorField textbook_solution(const WilsonClover& D, const SpinorField& b) {
    SpinorField x(b.extents);
    auto r = b;
    auto s = D.apply(r, true);
    auto p = s;
    double s2 = reference::dot(s, s).real();
    for (int k = 0; k < 400 && reference::norm(r) > 1e-13 * reference::norm(b); ++k) {
        const auto q = D.apply(p);
        const double alpha = s2 / reference::dot(q, q).real();
        x = reference::combination(1, x, alpha, p);
        r = reference::combination(1, r, -alpha, q);
        s = D.apply(r, true);
        const double before = s2;
        s2 = reference::dot(s, s).real();
        p = reference::combination(1, s, s2 / before, p);
    }
    return x;
}

class Solver : public LatticeOnEverySpace {
   protected:
    SolveLog solve(const GaugeField& u, const DiracParameters& parameters, const SolverOptions& options, const SpinorField& b,
                   SpinorField& x) {
        return WilsonSolver(space(), u, parameters, options).solve(b, x);
    }
    AnySpace space() {
        return on_space([](auto on) -> AnySpace { return on; });
    }
};
KS_ON_LATTICE_SPACES(Solver);

TEST_P(Solver, AgreesWithTheTextbookSolution) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 3, rough);
    const auto D = oracle(u, clover);
    const auto b = random_spinor(n, 4), exact = textbook_solution(D, b);
    for (const auto schur : {Schur::symmetric, Schur::asymmetric}) {
        SpinorField x(n);
        const auto log = solve(u, clover, {.schur = schur, .rtol = 1e-11}, b, x);
        EXPECT_EQ(log.end, krylov::Outcome::converged);
        EXPECT_LT(reference::relative_difference(x, exact), 20 * 1e-11);
    }
}

TEST_P(Solver, HasTheTrueResidualThatItReports) {
    for (const Extents n : {Extents{{2, 4, 6, 8}}, Extents{{6, 2, 10, 4}}})
        for (const double csw : {0., 1.2})
            for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic}) {
                const DiracParameters parameters{.kappa = 0.11, .csw = csw, .boundary = boundary};
                const auto u = random_gauge(n, 3, rough);
                const auto b = random_spinor(n, 4);
                const auto D = oracle(u, parameters);
                for (const auto schur : {Schur::symmetric, Schur::asymmetric}) {
                    SpinorField x(n);
                    const auto log = solve(u, parameters, {.schur = schur, .rtol = 1e-11}, b, x);
                    EXPECT_EQ(log.end, krylov::Outcome::converged) << text(n);
                    EXPECT_LE(log.true_residual, 1e-11);
                    EXPECT_NEAR(residual(D, b, x), log.true_residual, 2e-15);  // two roundings of sums of 30 terms
                }
            }
}

TEST_P(Solver, FieldsInTheMemoryOfTheSpaceHaveTheBitsOfThoseOfTheHost) {
    const Extents n{{2, 4, 6, 8}};
    const auto u = random_gauge(n, 3, rough);
    const auto b = random_spinor(n, 4), guess = random_spinor(n, 5);
    WilsonSolver solver(space(), u, clover, {.rtol = 1e-11});
    auto expected = guess;
    const auto log = solver.solve(b, expected);
    SpinorField product(n), adjoint(n);
    solver.apply(b, product), solver.apply(b, adjoint, true);
    on_space([&](auto on) {
        const auto b_there = to_space(on, b.values);
        auto x = to_space(on, guess.values);
        EXPECT_EQ(solver.solve(b_there.view(), x.view()).iterations, log.iterations);
        EXPECT_EQ(to_host(x), expected.values);
        solver.apply(b_there.view(), x.view());
        EXPECT_EQ(to_host(x), product.values);
        solver.apply(b_there.view(), x.view(), true);
        EXPECT_EQ(to_host(x), adjoint.values);
        EXPECT_THROW(solver.apply(b_there.view(), x.view().subview(0, 12)), LogicError);
        auto bad = b.values;
        bad[5] = {NAN, 0};
        const auto bad_there = to_space(on, bad);
        x = to_space(on, guess.values);
        EXPECT_EQ(solver.solve(bad_there.view(), x.view()).end, krylov::Outcome::not_finite);
        EXPECT_EQ(to_host(x), guess.values) << "unchanged";
        WilsonSolver gauged(space(), u, clover, {.outer_links = {.temporal_gauge = true}, .rtol = 1e-11});
        EXPECT_THROW(gauged.solve(b_there.view(), x.view()), LogicError);
    });
}

TEST_P(Solver, EveryMethodInEveryPrecision) {
    const Extents n{{4, 4, 4, 8}};
    const auto u = random_gauge(n, 5, rough);
    const auto D = oracle(u, clover);
    const auto b = random_spinor(n, 6);
    for (const auto method : methods)
        for (const auto inner : precisions)
            for (const auto schur : {Schur::symmetric, Schur::asymmetric}) {
                SpinorField x(n);
                const auto log = solve(u, clover, {.method = method, .schur = schur, .inner = inner}, b, x);
                const auto what = std::string(name(method)) + ", " + name(inner);
                EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
                EXPECT_LE(residual(D, b, x), 1e-10) << what;
                EXPECT_TRUE(log.notes.empty()) << what << ": " << log.notes.front();
                EXPECT_EQ(log.inner_iterations > 0, method != Method::cg && method != Method::bicgstab) << what;
                EXPECT_GT(log.gflops, 0);
                EXPECT_EQ(log.residuals.back(), log.true_residual);
                EXPECT_GE(log.residuals.size(), static_cast<std::size_t>(log.iterations)) << what;
            }
}

TEST_P(Solver, EveryStorageOfTheLinksGivesTheSameSolution) {
    const Extents n{{4, 2, 6, 4}};
    const auto u = random_gauge(n, 7, rough);
    const auto D = oracle(u, clover);
    const auto b = random_spinor(n, 8), exact = textbook_solution(D, b);
    for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters})
        for (const bool temporal : {false, true})
            for (const auto inner : precisions)
                for (const bool half_links : {false, true}) {
                    if (half_links && inner == Precision::double_) continue;
                    SolverOptions options{.inner = inner, .rtol = 1e-11};
                    options.outer_links = {.reals = reals, .temporal_gauge = temporal};
                    options.inner_links = {.reals = reals, .half = half_links, .temporal_gauge = temporal};
                    SpinorField x(n);
                    const auto log = solve(u, clover, options, b, x);
                    const auto what = name(inner, options.inner_links);
                    EXPECT_EQ(log.end, krylov::Outcome::converged) << what;
                    EXPECT_LE(residual(D, b, x), 1.01e-11) << what;  // reconstructed links differ by 1e-15
                    EXPECT_LT(reference::relative_difference(x, exact), 20 * 1e-11) << what;
                }
}

TEST_P(Solver, AppliesTheOperatorAndItsAdjoint) {
    const Extents n{{2, 4, 6, 8}};
    const auto u = random_gauge(n, 9);
    const DiracParameters parameters{.kappa = 0.12, .csw = 0.3};
    const auto D = oracle(u, parameters);
    const auto psi = random_spinor(n, 1);
    for (const bool temporal : {false, true}) {
        SolverOptions options{.inner = Precision::double_};
        options.outer_links.temporal_gauge = temporal;
        WilsonSolver solver(space(), u, parameters, options);
        for (const bool adjoint : {false, true}) {
            SpinorField out;
            solver.apply(psi, out, adjoint);
            EXPECT_LT(reference::relative_difference(out, D.apply(psi, adjoint)), 1e-14);
        }
    }
}

TEST_P(Solver, StartsFromTheGivenX) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    const auto b = random_spinor(n, 6);
    for (const bool temporal : {false, true}) {
        SolverOptions options{.rtol = 1e-11};
        options.inner_links.temporal_gauge = temporal;
        WilsonSolver solver(space(), u, clover, options);
        SpinorField x(n);
        const auto first = solver.solve(b, x);
        ASSERT_TRUE(first.converged());
        auto y = x;
        const auto again = solver.solve(b, y);
        EXPECT_TRUE(again.converged());
        EXPECT_LE(again.inner_iterations, 2);  // none, except where rounding is above the last tenth of the tolerance
        x.values[40] += 1e-6;
        const auto near = solver.solve(b, x);
        EXPECT_TRUE(near.converged());
        EXPECT_LT(near.inner_iterations, first.inner_iterations);
    }
}

TEST_P(Solver, SolvesForSourcesOfAnySize) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    const auto b = random_spinor(n, 6);
    for (const auto method : {Method::nested_bicgstab, Method::cg}) {
        WilsonSolver solver(space(), u, clover, {.method = method, .rtol = 1e-9});
        SpinorField one(n);
        ASSERT_TRUE(solver.solve(b, one).converged());
        for (const int exponent : {-997, -133, 133, 997}) {  // 1e-300, below and above what floats hold, 1e300
            auto scaled = b;
            for (auto& z : scaled.values) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
            SpinorField x(n);
            const auto log = solver.solve(scaled, x);
            EXPECT_EQ(log.end, krylov::Outcome::converged) << exponent;
            EXPECT_LE(log.true_residual, 1e-9);
            for (auto& z : x.values) z = {std::ldexp(z.real(), -exponent), std::ldexp(z.imag(), -exponent)};
            EXPECT_LT(reference::relative_difference(x, one), 20 * 2e-9) << exponent;
        }
    }
}

/// Units of a right-hand side without gaps, also where one half of the lattice is zero.
TEST_P(Solver, SolvesForPointSourcesOfAnySize) {
    const Extents n{{2, 2, 2, 4}};
    WilsonSolver solver(space(), random_gauge(n, 5, rough), clover, {.rtol = 1e-9});
    const auto b = point_source(n, {{1, 0, 0, 0}}, 2, 1);
    SpinorField one(n);
    ASSERT_TRUE(solver.solve(b, one).converged());
    for (int exponent = -1030; exponent <= 1020; exponent += 41) {
        auto scaled = b;
        for (auto& z : scaled.values) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
        SpinorField x(n);
        const auto log = solver.solve(scaled, x);
        EXPECT_EQ(log.end, krylov::Outcome::converged) << exponent;
        EXPECT_GT(log.inner_iterations, 0) << exponent;
        EXPECT_LE(log.true_residual, 1e-9) << exponent;
        for (auto& z : x.values) z = {std::ldexp(z.real(), -exponent), std::ldexp(z.imag(), -exponent)};
        EXPECT_LT(reference::relative_difference(x, one), 20 * 2e-9) << exponent;
    }
}

TEST_P(Solver, SolvesForSourcesOnOneSiteOfEitherParity) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    const auto D = oracle(u, clover);
    for (const index_t site : {0, 1}) {
        SpinorField b(n), x(n);
        b.at(site, 2, 1) = 1;
        EXPECT_TRUE(solve(u, clover, {}, b, x).converged());
        EXPECT_LE(residual(D, b, x), 1e-10);
    }
}

TEST_P(Solver, SolvesForAZeroSource) {
    const Extents n{{4, 4, 4, 4}};
    const SpinorField b(n);
    auto x = random_spinor(n, 1);
    const auto log = solve(random_gauge(n, 5, rough), clover, {}, b, x);
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    EXPECT_EQ(x.values, b.values);
}

TEST_P(Solver, ReportsNumbersThatAreNotFinite) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    for (const std::size_t at : {0u, 12u}) {  // an even and an odd site
        auto b = random_spinor(n, 1);
        b.values[at] = std::nan("");
        SpinorField x(n);
        EXPECT_EQ(solve(u, clover, {}, b, x).end, krylov::Outcome::not_finite);
        EXPECT_EQ(x.values, SpinorField(n).values);
    }
}

TEST_P(Solver, PromotesHalfPrecisionThatStagnates) {
    // Free quarks of mass 3e-5 and 3e-6, periodic: the operator's condition number is 2e5 and 2e6, beyond half's digits. Conjugate
    // gradients on the normal equations square it; BiCGStab, whose reliable updates work in half at 2e5, gets the lighter mass.
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::unit_gauge(n);
    const auto b = random_spinor(n, 2);
    for (const auto& [method, kappa] : {std::pair{Method::bicgstab, 0.1249999}, std::pair{Method::cg, 0.124999}}) {
        const DiracParameters light{.kappa = kappa, .boundary = Boundary::periodic};
        SpinorField x(n);
        const auto log = solve(u, light, {.method = method, .rtol = 1e-9}, b, x);
        EXPECT_EQ(log.end, krylov::Outcome::converged) << name(method);
        EXPECT_LE(residual(oracle(u, light), b, x), 1e-9 * (1 + 1e-3)) << name(method);
        EXPECT_TRUE(std::any_of(log.notes.begin(), log.notes.end(), [](const auto& note) { return note.starts_with("half precision"); }))
            << name(method);
    }
}

TEST_P(Solver, FallsBackToConjugateGradients) {
    // Random links and kappa twice its critical value: eigenvalues all around zero, where BiCGStab fails.
    const Extents n{{4, 4, 4, 4}};
    const DiracParameters beyond{.kappa = 0.35, .csw = 0};
    const auto u = random_gauge(n, 3);
    const auto D = oracle(u, beyond);
    const auto b = random_spinor(n, 4);
    for (const auto method : {Method::nested_bicgstab, Method::bicgstab}) {
        SpinorField x(n);
        const auto log = solve(u, beyond, {.method = method, .inner = Precision::single, .rtol = 1e-8, .iteration_limit = 20'000}, b, x);
        EXPECT_EQ(log.end, krylov::Outcome::converged) << name(method) << " " << name(log.end) << " " << log.true_residual;
        EXPECT_LE(residual(D, b, x), 1e-8 * (1 + 1e-3));
        EXPECT_TRUE(std::any_of(log.notes.begin(), log.notes.end(),
                                [](const auto& note) { return note.find("conjugate gradients") != std::string::npos; }));
    }
}

TEST_P(Solver, FailsClearlyAtTheCriticalKappa) {
    // Free periodic quarks of mass zero: constant fields are in D's kernel, and a constant b of the right chirality is outside its range.
    const Extents n{{4, 4, 4, 4}};
    const DiracParameters critical{.kappa = 0.125, .boundary = Boundary::periodic};
    SpinorField b(n);
    for (index_t site = 0; site < n.volume(); ++site) b.at(site, 0, 0) = 1;
    for (const auto method : methods) {
        SpinorField x(n);
        const auto log = solve(test::unit_gauge(n), critical, {.method = method, .iteration_limit = 3000}, b, x);
        EXPECT_FALSE(log.converged()) << name(method);
        EXPECT_GE(log.true_residual, 0.99) << name(method);
        EXPECT_FALSE(log.notes.empty() && log.end != krylov::Outcome::iteration_limit) << name(method);
        EXPECT_FALSE(log.residuals.empty()) << name(method);
        for (const auto z : x.values) ASSERT_TRUE(std::isfinite(z.real()) && std::isfinite(z.imag())) << name(method);
    }
}

TEST_P(Solver, EndsAtTheLimitAndWhenStopped) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    const auto D = oracle(u, clover);
    const auto b = random_spinor(n, 6);
    for (const auto method : methods) {
        SpinorField x(n);
        const auto limited = solve(u, clover, {.method = method, .iteration_limit = 4}, b, x);
        EXPECT_EQ(limited.end, krylov::Outcome::iteration_limit) << name(method);
        EXPECT_LE(std::max(limited.iterations, limited.inner_iterations), 4) << name(method);
        EXPECT_NEAR(limited.true_residual, residual(D, b, x), 1e-13) << name(method);
        EXPECT_LT(limited.true_residual, 1) << name(method);
        WilsonSolver solver(space(), u, clover, {.method = method});
        SpinorField y(n);
        int asked = 0;
        const auto stopped = solver.solve(b, y, [&](int iteration, double now) {
            EXPECT_GT(now, 0);
            ++asked;
            return iteration >= 3;
        });
        EXPECT_EQ(stopped.end, krylov::Outcome::stopped) << name(method);
        EXPECT_GE(asked, 3);
        EXPECT_NEAR(stopped.true_residual, residual(D, b, y), 1e-13) << name(method);
    }
}

TEST_P(Solver, WorksOnFieldsOfTheSpace) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 5, rough);
    const auto b = random_spinor(n, 6);
    SpinorField expected(n), found(n);
    ASSERT_TRUE(solve(u, clover, {}, b, expected).converged());
    on_space([&]<Space S>(S on) {
        ResidentSolver<OneDevice<S>> solver(OneDevice<S>(on, n), u, clover, {});
        ResidentField<S> source(solver.lattice), x(solver.lattice);
        load(b, Parity::even, source.even);
        load(b, Parity::odd, source.odd);
        solver.zero(x);
        const auto log = solver.solve(source, x);
        EXPECT_TRUE(log.converged());
        store(x.even, Parity::even, found);
        store(x.odd, Parity::odd, found);
        SpinorField same(n);  // the source must not change
        store(source.even, Parity::even, same);
        store(source.odd, Parity::odd, same);
        EXPECT_EQ(same.values, b.values);
    });
    EXPECT_EQ(found.values, expected.values);
}

TEST(SolverOnCpu, DoesNotDependOnThreadsBeyondRounding) {
    const Extents n{{4, 4, 8, 8}};
    const auto u = random_gauge(n, 5, rough);
    const auto b = random_spinor(n, 6);
    SpinorField x(n), y(n);
    const auto one = WilsonSolver(Cpu{1}, u, clover).solve(b, x), two = WilsonSolver(Cpu{2}, u, clover).solve(b, y);
    EXPECT_EQ(one.inner_iterations, two.inner_iterations);
    EXPECT_LT(reference::relative_difference(x, y), 1e-9);
}

TEST(TemporalGauge, HasUnitLinksInTime) {
    const Extents n{{2, 4, 2, 6}};
    const auto u = random_gauge(n, 11);
    const auto gauge = temporal_gauge(u);
    for (index_t i = 0; i < n.volume(); ++i) {
        if (n.site(i)[3] + 1 < n[3]) {
            EXPECT_EQ(gauge.links.link(i, 3), Su3<double>::unit());
        }
        for (int mu = 0; mu < 4; ++mu) EXPECT_LT(distance_from_su3(gauge.links.link(i, mu)), 1e-14);
    }
    // The product of the links in time is the Polyakov loop, up to a transformation: its trace does not change.
    for (index_t i = 0; i < n.volume() / n[3]; ++i) {
        auto loop = Su3<double>::unit();
        for (int t = 0; t < n[3]; ++t) loop = loop * u.link(i + t * (n.volume() / n[3]), 3);
        const auto before = trace(loop), after = trace(gauge.links.link(i + (n[3] - 1) * (n.volume() / n[3]), 3));
        EXPECT_NEAR(before.re, after.re, 1e-13);
        EXPECT_NEAR(before.im, after.im, 1e-13);
    }
    const auto psi = random_spinor(n, 12);
    EXPECT_LT(reference::relative_difference(rotated(rotated(psi, gauge.g, false), gauge.g, true), psi), 1e-14);
}

// A first inner solve of more than 24 iterations: single precision goes to 1e-5, and all iterations are more than 48.
TEST(AutomaticMethod, LeavesRefinementWhereTheFirstRestartIsFar) {
    const Extents n{{4, 6, 4, 8}};
    const auto u = random_gauge(n, 611, 0.2);
    const auto b = random_spinor(n, 612);
    const auto solved = [&](double kappa, Precision inner) {
        SpinorField x(n);
        const DiracParameters parameters{.kappa = kappa, .csw = 1, .boundary = Boundary::antiperiodic};
        const auto log = WilsonSolver(Cpu{1}, u, parameters, {.method = Method::automatic, .inner = inner}).solve(b, x);
        EXPECT_TRUE(log.converged());
        EXPECT_LE(residual(oracle(u, parameters), b, x), 1e-10);
        return log;
    };
    const auto light = solved(0.1365, Precision::single), heavy = solved(0.11, Precision::single), all = solved(0.1365, Precision::double_);
    EXPECT_EQ(light.inner_iterations, 24);
    EXPECT_GT(light.iterations, 24);
    ASSERT_EQ(light.notes.size(), 1U);
    EXPECT_NE(light.notes.front().find("BiCGStab with reliable updates continues"), std::string::npos);
    EXPECT_EQ(heavy.notes.size(), 0U);
    EXPECT_GT(heavy.inner_iterations, 5 * heavy.iterations);
    EXPECT_EQ(all.inner_iterations, 0);
}

}  // namespace
}  // namespace kasane::lattice
