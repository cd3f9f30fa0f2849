// Extreme eigenvalues of Dhat^+ Dhat: of free quarks from their momenta, and on random links by powers of dense matrices.
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/spectrum.hpp>

#include "lattice/hmc/dense_quarks.hpp"
#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <kasane/core/base/error.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace kasane::lattice {
namespace {

class QuarkSpectrum : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(QuarkSpectrum);

// 1 - kappa H has the eigenvalues 1 - kappa h, h = 2 sum cos p_mu +- 2 i sqrt(sum sin^2 p_mu), so Dhat = 1 - kappa^2 H_eo H_oe has
// 1 - kappa^2 h^2. H of free quarks is normal.
TEST_P(QuarkSpectrum, OfFreeQuarksIsThatOfTheirMomenta) {
    const Extents n{{4, 2, 4, 6}};
    constexpr double kappa = 0.11;
    double smallest = std::numeric_limits<double>::infinity(), largest = 0;
    for (int k = 0; k < static_cast<int>(n.volume()); ++k) {
        int rest = k;
        double cosines = 0, sines = 0;
        for (int mu = 0; mu < 4; ++mu) {
            const auto extent = static_cast<int>(n[mu]);
            const double p = 2 * std::numbers::pi * (rest % extent + (mu == 3 ? 0.5 : 0)) / extent;
            rest /= extent;
            cosines += std::cos(p), sines += std::sin(p) * std::sin(p);
        }
        const std::complex<double> h(2 * cosines, 2 * std::sqrt(sines));
        const double eigenvalue = std::norm(1. - kappa * kappa * h * h);
        smallest = std::min(smallest, eigenvalue), largest = std::max(largest, eigenvalue);
    }
    on_space([&](auto on) {
        GaugeField one(n);
        for (auto& link : one.links) link = Su3<double>::unit();
        QuarkOperator<decltype(on)> D(on, n, DiracParameters{kappa, 1.3, Boundary::antiperiodic});
        D.pack(links_on(on, one));
        const auto found = measure_spectrum(D, 1, 2, {.rtol = 1e-6});
        EXPECT_TRUE(found.converged);
        EXPECT_NEAR(found.smallest, smallest, 1e-10 * largest);
        EXPECT_NEAR(found.largest, largest, 1e-10 * largest);
    });
}

TEST_P(QuarkSpectrum, OnRandomLinksIsThatOfTheDenseMatrix) {
    const auto n = test::smallest;
    const auto u = test::random_gauge(n, 501, 0.6);
    for (const double twist : {0., 0.3}) {
        const auto square = test::DenseBlocks(reference::WilsonClover(u, 0.13, 1.2, true), twist).schur().normal(0);
        auto inverse = square;
        {
            std::vector<std::vector<test::Number>> columns(square.n, std::vector<test::Number>(square.n));
            for (std::size_t i = 0; i < square.n; ++i) columns[i][i] = 1;
            columns = square.solve(std::move(columns)).first;
            for (std::size_t i = 0; i < square.n; ++i)
                for (std::size_t k = 0; k < square.n; ++k) inverse.at(i, k) = columns[k][i];
        }
        // Rayleigh's quotient after many powers of a matrix; it lies inside the spectrum.
        const auto largest_of = [](const test::DenseMatrix& m) {
            std::vector<test::Number> x(m.n, 1);
            for (int power = 0; power < 1000; ++power) {
                x = m.times(x);
                const double norm = std::sqrt(test::norm2(x));
                for (auto& z : x) z /= norm;
            }
            test::Number product = 0;
            const auto image = m.times(x);
            for (std::size_t i = 0; i < x.size(); ++i) product += std::conj(x[i]) * image[i];
            return product.real();
        };
        const double largest = largest_of(square), smallest = 1 / largest_of(inverse);
        on_space([&](auto on) {
            QuarkOperator<decltype(on)> D(on, n, QuarkParameters({0.13, 1.2, Boundary::antiperiodic}, twist));
            D.pack(links_on(on, u));
            const auto exact = measure_spectrum(D, 1, 2, {.rtol = 1e-7});
            EXPECT_TRUE(exact.converged);
            EXPECT_NEAR(exact.largest, largest, 1e-6 * largest) << twist;
            EXPECT_NEAR(exact.smallest, smallest, 1e-6 * smallest) << twist;
            const auto rough = measure_spectrum(D, 3, 4);
            EXPECT_TRUE(rough.converged);
            EXPECT_LT(rough.steps, exact.steps);
            EXPECT_NEAR(rough.smallest, exact.smallest, rough.smallest_error + 1e-6 * exact.smallest);
            EXPECT_NEAR(rough.largest, exact.largest, rough.largest_error + 1e-6 * exact.largest);
            EXPECT_GE(rough.smallest, exact.smallest * (1 - 1e-9));
            EXPECT_LE(rough.largest, exact.largest * (1 + 1e-9));
        });
    }
}

TEST_P(QuarkSpectrum, IsTheSameForAnyNumberOfThreads) {
    const Extents n{{4, 4, 2, 6}};
    const auto u = test::random_gauge(n, 502, 0.4);
    const auto measured = [&](auto on) {
        QuarkOperator<decltype(on)> D(on, n, DiracParameters{0.13, 1, Boundary::antiperiodic});
        D.pack(links_on(on, u));
        return measure_spectrum(D, 1, 2);
    };
    const auto one = measured(Cpu{1}), two = measured(Cpu{2});
    EXPECT_EQ(one.smallest, two.smallest);
    EXPECT_EQ(one.largest, two.largest);
    on_space([&](auto on) { EXPECT_NEAR(measured(on).smallest, one.smallest, 1e-9 * one.smallest); });
}

TEST(QuarkSpectrumInput, IsCheckedAndALimitIsKept) {
    const auto n = test::smallest;
    QuarkOperator<Cpu> D(Cpu{1}, n, DiracParameters{0.13, 1, Boundary::antiperiodic});
    auto u = test::random_gauge(n, 503);
    D.pack(links_on(Cpu{1}, u));
    EXPECT_THROW(measure_spectrum(D, 1, 1, {.rtol = 0}), InputError);
    EXPECT_THROW(measure_spectrum(D, 1, 1, {.step_limit = 0}), InputError);
    const auto few = measure_spectrum(D, 1, 1, {.rtol = 1e-9, .step_limit = 3});
    EXPECT_FALSE(few.converged);
    EXPECT_EQ(few.steps, 3);
    const auto one = measure_spectrum(D, 1, 1, {.step_limit = 1});
    EXPECT_NEAR(one.smallest, one.largest, 1e-14);  // roundings of the bisection
    u.links[5].e[0][0].re = std::numeric_limits<double>::quiet_NaN();
    D.pack(links_on(Cpu{1}, u));
    EXPECT_THROW(measure_spectrum(D, 1, 1), ComputationError);
}

}  // namespace
}  // namespace kasane::lattice
