// The clover term against the textbook oracle, against exact values in a constant abelian field, and in the continuum: c_sw = 1 removes
// the error of order a (which c_sw = -1 would double), so that the sign is right.
#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::lattice {
namespace {

using reference::Number;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Largest |library's A - oracle's A| of all entries and sites; entries between chiralities must be 0 in the oracle's.
double worst_difference(const GaugeField& u, const CloverTerm<Cpu>& A, const reference::WilsonClover& oracle) {
    double worst = 0;
    for (index_t x = 0; x < u.extents.volume(); ++x) {
        const Site site = u.extents.site(x);
        const auto& expected = oracle.clover_at(x);
        for (std::size_t chirality = 0; chirality < 2; ++chirality) {
            const auto block = A.view().load(site.parity(), static_cast<int>(chirality), u.extents.checkerboard(site));
            for (std::size_t i = 0, k = 0; i < 6; ++i) {
                const auto row = 6 * chirality + i;
                worst = std::max(worst, std::abs(expected[row][row] - block.diagonal[i]));
                for (std::size_t j = 0; j < i; ++j, ++k) {
                    const Number lower{block.lower[k].re, block.lower[k].im};
                    worst = std::max(worst, std::abs(expected[row][6 * chirality + j] - lower));
                    worst = std::max(worst, std::abs(expected[6 * chirality + j][row] - std::conj(lower)));
                }
                for (std::size_t j = 0; j < 6; ++j) worst = std::max(worst, std::abs(expected[row][6 * (1 - chirality) + j]));
            }
        }
    }
    return worst;
}

TEST(CloverTerm, EqualsTheTextbookOracle) {
    for (const auto extents : {Extents{4, 4, 4, 4}, Extents{2, 4, 6, 8}}) {
        const auto u = test::random_gauge(extents, 1);
        constexpr double kappa = 0.13, csw = 0.7;
        const auto A = clover_term(links_on(Cpu{}, u), kappa * csw);
        const reference::WilsonClover oracle(u, kappa, csw, true);
        // An entry sums at most 4 products of 4 unitary links with weight kappa c_sw: some tens of roundings of numbers near 1.
        EXPECT_LT(worst_difference(u, A, oracle), 64 * epsilon) << text(extents);
        for (const auto parity : {Parity::even, Parity::odd}) {
            const double expected = oracle.log_determinant(parity);
            EXPECT_NEAR(log_determinant(A, parity), expected, 100 * epsilon * 12 * static_cast<double>(extents.half())) << text(extents);
        }
    }
}

TEST(CloverTerm, RefusesATermThatIsNotPositive) {
    const auto u = test::random_gauge({4, 4, 4, 4}, 2);
    EXPECT_THROW(log_determinant(clover_term(links_on(Cpu{}, u), 5.0), Parity::even), ComputationError);
}

/// A field whose plaquettes in the plane (mu, nu) are all exp(i B charge) with charges (1, -1, 0) of the colours and 1 in other planes;
/// B = 2 pi n / (N_mu N_nu). U_nu = exp(i B x_mu), and U_mu makes up for the jump at the end.
GaugeField abelian(const Extents& extents, int mu, int nu, double B) {
    auto u = test::unit_gauge(extents);
    for (index_t i = 0; i < extents.volume(); ++i) {
        const Site x = extents.site(i);
        const auto set = [&](int direction, double phase) {
            auto& link = u.link(i, direction);
            link.e[0][0] = {std::cos(phase), std::sin(phase)};
            link.e[1][1] = {std::cos(phase), -std::sin(phase)};
        };
        set(nu, B * x[mu]);
        if (x[mu] == extents[mu] - 1) set(mu, -B * extents[mu] * x[nu]);
    }
    return u;
}

TEST(CloverTerm, IsExactInAConstantAbelianField) {
    const Extents extents{4, 6, 2, 4};
    constexpr double kappa_csw = 0.2;
    for (int mu = 0; mu < 4; ++mu)
        for (int nu = mu + 1; nu < 4; ++nu) {
            const double B = 2 * std::numbers::pi * 1 / (extents[mu] * extents[nu]);
            const auto A = clover_term(links_on(Cpu{}, abelian(extents, mu, nu, B)), kappa_csw);
            // F = (Q - Q^+) / 8 = i sin(B charge), so A = 1 - kappa c_sw g_mu g_nu i sin(B charge)
            const auto gg =
                reference::product(reference::gamma[static_cast<std::size_t>(mu)], reference::gamma[static_cast<std::size_t>(nu)]);
            double worst = 0;
            for (index_t x = 0; x < extents.volume(); ++x)
                for (std::size_t chirality = 0; chirality < 2; ++chirality) {
                    const Site site = extents.site(x);
                    const auto block = A.view().load(site.parity(), static_cast<int>(chirality), extents.checkerboard(site));
                    for (std::size_t i = 0, k = 0; i < 6; ++i)
                        for (std::size_t j = 0; j <= i; ++j) {
                            const double charge = i % 3 != j % 3 ? 0 : i % 3 == 0 ? 1 : i % 3 == 1 ? -1 : 0;
                            const Number expected = (i == j ? 1. : 0.) - kappa_csw * gg[2 * chirality + i / 3][2 * chirality + j / 3] *
                                                                             reference::I * std::sin(B * charge);
                            const Number entry = i == j ? Number{block.diagonal[i]} : Number{block.lower[k].re, block.lower[k].im};
                            worst = std::max(worst, std::abs(entry - expected));
                            k += i != j;
                        }
                }
            EXPECT_LT(worst, 64 * epsilon) << mu << nu;  // phases of up to 2 pi: cos and sin of them to an epsilon or two
            const double s = kappa_csw * std::sin(B);    // sigma_mu_nu has the eigenvalues 1, 1, -1, -1
            for (const auto parity : {Parity::even, Parity::odd})
                EXPECT_NEAR(log_determinant(A, parity), static_cast<double>(extents.half()) * 4 * std::log(1 - s * s), 1e-12) << mu << nu;
        }
}

TEST(CloverTerm, VanishesOnPureGaugeLinks) {
    const Extents extents{4, 2, 4, 6};
    const auto u = test::transformed(test::unit_gauge(extents), test::random_transformation(extents, 3));
    const auto A = clover_term(links_on(Cpu{}, u), 1.0);
    double worst = 0;
    for (const auto parity : {Parity::even, Parity::odd})
        for (index_t place = 0; place < extents.half(); ++place)
            for (int chirality = 0; chirality < 2; ++chirality) {
                const auto block = A.view().load(parity, chirality, place);
                for (const double d : block.diagonal) worst = std::max(worst, std::abs(d - 1));
                for (const auto& l : block.lower) worst = std::max({worst, std::abs(l.re), std::abs(l.im)});
            }
    EXPECT_LT(worst, 64 * epsilon);
}

/// | (D - (g.D - (g.D)^2 / 2)) psi | / |psi| for c_sw = 0, 1, -1 at zero bare mass, in a smooth periodic non-abelian field in the plane
/// (mu, nu), all wavelengths of the order of n sites; g.D is the naive central difference. As (g.D)^2 = D^2 + sum_{mu < nu} g_mu g_nu F,
/// (mu, nu), all wavelengths of the order of n sites; g.D is the naive central difference. As (g.D)^2 = D^2 + sum_{mu < nu} g_mu g_nu F,
struct Artefact {
    double none, improved, wrong;
};
Artefact artefact(int mu, int nu, int n) {
    Extents extents{2, 2, 2, 2};
    extents.n[mu] = extents.n[nu] = n;
    GaugeField u(extents);
    SpinorField psi(extents);
    for (index_t i = 0; i < extents.volume(); ++i) {
        const Site x = extents.site(i);
        const double a = 2 * std::numbers::pi * x[mu] / n, b = 2 * std::numbers::pi * x[nu] / n;
        for (int direction = 0; direction < 4; ++direction) {
            Su3<double> generator{};
            if (direction == mu || direction == nu) {
                const double h = (direction == mu ? 3. : 1.5) / n;
                generator.e[0][0] = {0, h * std::sin(b + direction)};
                generator.e[1][1] = {0, -h * std::sin(b + direction)};
                generator.e[0][2] = {h * std::cos(a), h * std::sin(a + b)};
                generator.e[2][0] = {-h * std::cos(a), h * std::sin(a + b)};
            }
            u.link(i, direction) = exponential(generator);
        }
        for (int k = 0; k < 12; ++k) psi.at(i, k / 3, k % 3) = {std::cos(a + 0.3 * k) + 0.5, std::sin(b + 0.7 * k)};
    }
    const reference::WilsonClover D(u, 1. / 8, 1, false);
    using reference::combination;
    const auto naive = [&](const SpinorField& x) {  // g5 changes the sign of g_mu, not of Wilson's term
        return combination(-0.25, D.hop(x), 0.25, D.times_gamma5(D.hop(D.times_gamma5(x))));
    };
    const auto first = naive(psi);
    const auto none = combination(1, combination(4, psi, -0.5, D.hop(psi)), -1, combination(1, first, -0.5, naive(first)));
    const auto term = combination(4, D.clover(psi), -4, psi);
    const auto with = [&](double csw) { return reference::norm(combination(1, none, csw, term)) / reference::norm(psi); };
    return {with(0), with(1), with(-1)};
}

TEST(CloverTerm, ImprovesWithPositiveCoefficient) {
    for (int mu = 0; mu < 4; ++mu)
        for (int nu = mu + 1; nu < 4; ++nu) {
            const auto coarse = artefact(mu, nu, 16), fine = artefact(mu, nu, 32);
            EXPECT_NEAR(coarse.none / fine.none, 4, 0.5) << mu << nu;  // the next order is (3 / n)^2 times a few at n = 16
            EXPECT_NEAR(coarse.improved / fine.improved, 16, 2.5) << mu << nu;
            EXPECT_LT(fine.improved, 0.2 * fine.none) << mu << nu;
            EXPECT_NEAR(fine.wrong / fine.none, 2, 0.1) << mu << nu;
        }
}

}  // namespace
}  // namespace kasane::lattice
