#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/deprojection.hpp>
#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace kasane::gravity;
using std::numbers::pi;

namespace {

template <class F>
Table table_of(F f, double first, double last, int rows) {
    Table table;
    for (int i = 0; i < rows; ++i) {
        const double r = first * std::pow(last / first, i / (rows - 1.));
        table.radius.push_back(r);
        table.density.push_back(f(r));
    }
    return table;
}

Deprojection sersic(double n) { return Deprojection(sersic_projection(n), 1e-12, std::pow(130 / sersic_b(n), n)); }

}  // namespace

// Along the line of sight z, by another rule than the one that deprojects: Sigma = 2 Int rho(sqrt(R^2 + z^2)) dz.
TEST(Deprojection, ASersicSphereProjectsBack) {
    for (const double n : {0.5, 0.8, 1., 2.2, 4., 10.}) {
        const auto rho = sersic(n);
        const double b = sersic_b(n);
        for (const double R : {1e-6, 1e-3, 0.1, 1., 5., 20.}) {
            const double expected = std::exp(-b * (std::pow(R, 1 / n) - 1));
            if (expected < 1e-30) continue;
            double sigma = 0;
            double from = 0, to = R;
            for (int i = 0; i < 80; ++i, from = to, to *= 2) {
                const double part = kasane::integrate([&](double z) { return 2 * rho(std::hypot(R, z)).f; }, from, to, 1e-11).value;
                sigma += part;
                if (part < 1e-13 * sigma) break;
            }
            EXPECT_NEAR(sigma / expected, 1, 1e-9) << "n = " << n << ", R = " << R;
        }
    }
}

// Sigma = e^(b - b R): rho = b e^b K0(b r) / pi.
TEST(Deprojection, AnExponentialProfileIsABesselFunction) {
    const auto rho = sersic(1);
    const double b = sersic_b(1), unit = b * std::exp(b) / pi;
    for (const double r : {1e-8, 1e-4, 0.01, 0.3, 1., 4., 15.}) {
        const double k0 = std::cyl_bessel_k(0, b * r), k1 = std::cyl_bessel_k(1, b * r);
        const auto at = rho(r);
        EXPECT_NEAR(at.f / (unit * k0), 1, 1e-11) << r;
        EXPECT_NEAR(at.d1 / (-unit * b * r * k1), 1, 1e-10) << r;
        EXPECT_NEAR(at.d2 / (unit * (b * b * r * r * k0 + b * r * k1)), 1, 1e-8) << r;
    }
}

// n = 1/2 is a Gaussian sphere, whose derivatives are tiny in the core.
TEST(Deprojection, AGaussianProfileIsAGaussianSphereAlsoInItsCore) {
    const auto rho = sersic(0.5);
    const double b = sersic_b(0.5), unit = std::exp(b) * std::sqrt(b / pi);
    for (const double r : {1e-6, 1e-4, 1e-2, 0.5, 2., 6.}) {
        const double z = b * r * r, exact = unit * std::exp(-z);
        const auto at = rho(r);
        EXPECT_NEAR(at.f / exact, 1, 1e-11) << r;
        // UniformQuintic's errors for a slope that grows as e^(2 ln r), h = 1/128: 1.6e-10 and 3e-8.
        EXPECT_NEAR(at.d1 / (-2 * z * exact), 1, 3e-10) << r;
        EXPECT_NEAR(at.d2 / ((4 * z - 2) * z * exact), 1, 1e-7) << r;
    }
}

// Sigma = R^-p: rho = Gamma((p + 1)/2) / (sqrt(pi) Gamma(p/2)) r^(-p - 1); a spline of its logarithms is exact.
TEST(Deprojection, APowerLawTableIsAPowerLaw) {
    for (const double p : {0.2, 1., 2.7}) {
        const auto table = table_of([&](double R) { return 3 * std::pow(R, -p); }, 0.5, 40, 9);
        const Deprojection rho(table_projection(table), 1e-6, 40);
        const double unit = std::pow(0.5, p) * std::tgamma((p + 1) / 2) / (std::sqrt(pi) * std::tgamma(p / 2));  // of the first row
        for (const double r : {1e-9, 0.01, 0.5, 3., 39., 1e4}) {
            const auto at = rho(r);
            EXPECT_NEAR(at.f / (unit * std::pow(r, -p - 1)), 1, 1e-11) << p << " " << r;
            EXPECT_NEAR(at.d1 / at.f, -p - 1, 1e-10) << p << " " << r;
            EXPECT_NEAR(at.d2 / at.f, (p + 1) * (p + 2), 1e-8) << p << " " << r;
        }
    }
}

TEST(Deprojection, ATableOfAPlummerSphereGivesItsDensity) {
    // Sigma = (1 + R^2)^-2 of rho = 3/4 (1 + r^2)^(-5/2).
    const auto table = table_of([](double R) { return std::pow(1 + R * R, -2); }, 0.01, 100, 161);
    const Deprojection rho(table_projection(table), 1e-8, 100);
    for (const double r : {0.05, 0.2, 1., 5., 30.}) {
        // Spline of ln Sigma, h = 0.0576: its slope is good to h^3/24 f'''' = 1e-4 or better.
        EXPECT_NEAR(rho(r).f / rho(1).f, std::pow((1 + r * r) / 2, -2.5), 1e-4 * std::pow((1 + r * r) / 2, -2.5)) << r;
    }
}

TEST(Deprojection, ReportsTheRadiusOfANegativeDensity) {
    // A ring at R = 3 on a declining disk.
    const auto table = table_of([](double R) { return std::pow(1 + R, -3) + 0.1 * std::exp(-8 * (R - 3) * (R - 3)); }, 0.1, 10, 60);
    try {
        const Deprojection rho(table_projection(table), 1e-7, 10);
        FAIL() << "a ring has been deprojected";
    } catch (const kasane::InputError& error) {
        ASSERT_EQ(error.problems().size(), 1U);
        EXPECT_EQ(error.problems()[0].where.key, "table");
        EXPECT_NE(std::string(error.what()).find("at the radius"), std::string::npos) << error.what();
    }
}

// As steep as the check of tables allows: it has a density or it has not, and that shows soon.
TEST(Deprojection, SteepTablesAreDeprojectedOrRefused) {
    for (const double sign : {-1., 1.}) {
        auto table = table_of([](double R) { return std::pow(1 + R * R, -2); }, 0.01, 100, 40);
        table.radius[20] = table.radius[19] * (1 + 1e-4);
        table.density[20] = table.density[19] * std::exp(sign * 0.9);
        try {
            const Deprojection rho(table_projection(table), 0.5 * table.radius[19], table.radius[21]);
            EXPECT_GT(rho(table.radius[19]).f, 0);
        } catch (const kasane::InputError& error) {
            EXPECT_EQ(error.problems()[0].where.key, "table");
        }
    }
}
