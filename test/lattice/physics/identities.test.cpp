// Identities of any Wilson-clover operator, through the solver's own double operator, on lattices that are not multiples of a vector; and
// every method of solution gives the solution of the full system, which the oracle finds without even-odd preconditioning.
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/physics/spaces.hpp"
#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <limits>

namespace kasane::lattice {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// A number of D x sums some 200 products: a few epsilon of the vector's size altogether; eight reals cost four times as much.
constexpr double rounding = 32 * epsilon;

const Extents shapes[] = {{{4, 4, 4, 4}}, {{2, 4, 6, 8}}, {{6, 2, 10, 4}}};
const DiracParameters parameters{0.135, 1.3, Boundary::antiperiodic};

SpinorField apply(WilsonSolver& D, const SpinorField& in, bool adjoint = false) {
    SpinorField out(in.extents);
    D.apply(in, out, adjoint);
    return out;
}

class WilsonClover : public test::OnEverySpace {
   protected:
    template <class Body>
    void each(Body body) {
        for (const auto& extents : shapes)
            for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters}) {
                SCOPED_TRACE(text(extents) + " in " + std::to_string(static_cast<int>(reals)) + " reals");
                SolverOptions options;
                options.outer_links.reals = reals;
                body(extents, options);
            }
    }
};
KS_ON_EVERY_SPACE(WilsonClover);

TEST_P(WilsonClover, EqualsTheOracle) {
    each([&](const Extents& extents, const SolverOptions& options) {
        const auto u = test::random_gauge(extents, 71);
        const auto x = test::random_spinor(extents, 72);
        for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic}) {
            const DiracParameters p{0.135, 1.3, boundary};
            WilsonSolver D(space(), u, p, options);
            const reference::WilsonClover oracle(u, p.kappa, p.csw, boundary == Boundary::antiperiodic);
            for (const bool adjoint : {false, true})
                EXPECT_LT(reference::relative_difference(apply(D, x, adjoint), oracle.apply(x, adjoint)), rounding);
        }
    });
}

TEST_P(WilsonClover, IsHermitianUpToGamma5) {
    each([&](const Extents& extents, const SolverOptions& options) {
        WilsonSolver D(space(), test::random_gauge(extents, 73), parameters, options);
        const auto x = test::random_spinor(extents, 74), y = test::random_spinor(extents, 75);
        const auto g5 = reference::WilsonClover::times_gamma5;
        EXPECT_LT(reference::relative_difference(g5(apply(D, g5(x))), apply(D, x, true)), rounding);
        const auto left = reference::dot(x, apply(D, y)), right = reference::dot(apply(D, x, true), y);
        EXPECT_LT(std::abs(left - right), rounding * reference::norm(x) * reference::norm(y));
    });
}

TEST_P(WilsonClover, IsGaugeCovariant) {
    each([&](const Extents& extents, const SolverOptions& options) {
        const auto u = test::random_gauge(extents, 76);
        const auto g = test::random_transformation(extents, 77);
        WilsonSolver before(space(), u, parameters, options), after(space(), test::transformed(u, g), parameters, options);
        const auto psi = test::random_spinor(extents, 78);
        const auto of_transformed = apply(after, test::transformed(psi, g)), transformed = test::transformed(apply(before, psi), g);
        EXPECT_LT(reference::relative_difference(of_transformed, transformed), rounding);
    });
}

/// The full system by CG on D^+ D with the oracle's matrices.
SpinorField full_solution(const reference::WilsonClover& D, const SpinorField& b) {
    using reference::combination;
    SpinorField x(b.extents);
    auto r = D.apply(b, true), p = r;
    double rr = reference::dot(r, r).real();
    const double start = rr;
    for (int i = 0; i < 1000 && rr > 1e-30 * start; ++i) {
        const auto q = D.apply(D.apply(p), true);
        const double alpha = rr / reference::dot(p, q).real();
        x = combination(1, x, alpha, p);
        r = combination(1, r, -alpha, q);
        const double next = reference::dot(r, r).real();
        p = combination(1, r, next / rr, p);
        rr = next;
    }
    return x;
}

TEST_P(WilsonClover, EverySolveIsThatOfTheFullSystem) {
    const Extents extents{{4, 2, 6, 4}};
    const auto u = test::random_gauge(extents, 79, 0.3);
    const DiracParameters p{0.12, 1, Boundary::antiperiodic};
    const auto b = test::random_spinor(extents, 80);
    const auto expected = full_solution(reference::WilsonClover(u, p.kappa, p.csw, true), b);
    const auto expect = [&](const SolverOptions& options) {
        WilsonSolver solver(space(), u, p, options);
        SpinorField x(extents);
        const auto log = solver.solve(b, x);
        SCOPED_TRACE(std::string(name(options.method)) + " " + name(options.inner, options.inner_links) +
                     (options.schur == Schur::symmetric ? " symmetric" : " asymmetric"));
        EXPECT_TRUE(log.converged()) << name(log.end);
        EXPECT_LE(log.true_residual, options.rtol);
        // |D^-1| |D| is some 10 here.
        EXPECT_LT(reference::relative_difference(x, expected), 100 * options.rtol);
    };
    for (const auto schur : {Schur::symmetric, Schur::asymmetric})
        for (const auto method : {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement})
            for (const auto inner : {Precision::half, Precision::single, Precision::double_}) {
                SolverOptions options;
                options.method = method;
                options.schur = schur;
                options.inner = inner;
                options.inner_links.half = inner == Precision::half;
                options.rtol = 1e-12;
                expect(options);
            }
}

}  // namespace
}  // namespace kasane::lattice
