#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/king.hpp>

#include "stencil.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using kasane::gravity::king_density;
using kasane::gravity::KingSphere;

// f = (2 pi)^(-3/2) (e^E - 1), E = W - v^2/2, integrated over velocities.
TEST(King, DensityIsTheIntegralOfItsDistributionFunction) {
    for (const double w : {1e-8, 1e-3, 0.1, 1.49, 1.51, 3., 9., 16.}) {
        const double fastest = std::sqrt(2 * w);
        // v = fastest - u: the integrand has a simple zero at the fastest end.
        const auto integral =
            kasane::integrate([&](double v) { return v * v * std::expm1((fastest - v) * (fastest + v) / 2); }, 0, fastest, 1e-14);
        const double rho = 4 * std::numbers::pi * std::pow(2 * std::numbers::pi, -1.5) * integral.value;
        EXPECT_NEAR(king_density(w).rho / rho, 1, 2e-14) << w;
    }
}

TEST(King, SeriesAgreesWithTheClosedFormAndIsZeroBelowZero) {
    const auto below = king_density(1.5 * (1 - 1e-15)), above = king_density(1.5);
    // Closed form: 4.48 * 0.917 - 1.38 * 2 = 1.34: three roundings of 4.
    EXPECT_NEAR(below.rho / above.rho, 1, 4e-15);
    EXPECT_EQ(king_density(0).rho, 0);
    EXPECT_EQ(king_density(-1).dd, 0);
}

TEST(King, DerivativesByW) {
    for (const double w : {0.05, 0.7, 1.5, 4., 12.}) {
        const double h = std::min(w / 50, 0.05);  // h^8/630 = 6e-14; rounding 2 eps w/h
        EXPECT_NEAR(stencil([](double x) { return king_density(x).rho; }, w, h) / king_density(w).d, 1, 1e-11);
        EXPECT_NEAR(stencil([](double x) { return king_density(x).d; }, w, h) / king_density(w).dd, 1, 1e-11);
    }
}

// log10(tidal radius / core radius) as printed in the literature.       [King 1966, table II; Binney & Tremaine 2008, fig. 4.9]
TEST(King, ConcentrationsOfTheLiterature) {
    const double expected[][2] = {{1, 0.30}, {2, 0.51}, {3, 0.67}, {4, 0.84}, {5, 1.03},
                                  {6, 1.26}, {7, 1.53}, {8, 1.83}, {9, 2.12}, {12, 2.74}};
    for (const auto& [w0, c] : expected) EXPECT_NEAR(std::log10(KingSphere(w0).tidal_radius()), c, 0.006) << w0;  // two printed digits
}

// Poisson's equation once more, by the classical Runge-Kutta method in x with small steps.
TEST(King, PotentialSolvesPoissonsEquation) {
    for (const double w0 : {0.3, 3., 9.}) {
        const KingSphere king(w0);
        const double central = king_density(w0).rho, h = 2.5e-4;
        const auto source = [&](double w) { return 9 * king_density(w).rho / central; };
        double x = h, w = w0 - 1.5 * h * h, d = -3 * h;  // the next term is h^4
        const auto dd = [&](double at, double value, double slope) { return -source(value) - 2 * slope / at; };
        double worst = 0;
        while (x + h < std::min(5., king.tidal_radius())) {
            const double k1 = dd(x, w, d), d2 = d + h / 2 * k1;
            const double k2 = dd(x + h / 2, w + h / 2 * d, d2), d3 = d + h / 2 * k2;
            const double k3 = dd(x + h / 2, w + h / 2 * d2, d3), d4 = d + h * k3;
            const double k4 = dd(x + h, w + h * d3, d4);
            w += h / 6 * (d + 2 * d2 + 2 * d3 + d4);
            d += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
            x += h;
            worst = std::max(worst, std::abs(king.w(x) - w));
        }
        // The start's h^4 and the steps' h^4 near the centre, 2e-14 each, and 2e4 roundings of W0.
        EXPECT_LT(worst, 1e-12 * w0) << w0;
    }
}

TEST(King, MassGivesTheForceAtTheTidalRadius) {
    const KingSphere king(6);
    const double edge = king.tidal_radius();
    const double mass = kasane::integrate([&](double x) { return 9 * x * x * king(x).f; }, 0, edge, 1e-13).value;
    // W rises inwards from the edge as (1 - x/edge) mass / edge, and half that curvature again: W'' = -2 W'/x where rho = 0.
    const double p = 1e-4;
    const double inside = king.w(edge * (1 - p));
    EXPECT_NEAR(inside / (mass / edge * (p + p * p)), 1, 2 * p * p);
    EXPECT_EQ(king.w(edge * 1.001), 0);
    EXPECT_EQ(king(edge).f, 0);
}

TEST(King, TablesJoinSmoothly) {
    for (const double w0 : {0.1, 3., 16.}) {
        const KingSphere king(w0);
        for (const double x : {0.01, king.tidal_radius() / 2}) {
            const auto a = king(x * (1 - 1e-15)), b = king(x);
            EXPECT_NEAR(a.f / b.f, 1, 1e-12);
            EXPECT_NEAR(a.d1 / b.d1, 1, 1e-11);
            EXPECT_NEAR(a.d2 / b.d2, 1, 1e-11);
        }
    }
}
