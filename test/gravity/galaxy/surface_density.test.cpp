#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include "stencil.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

using namespace kasane::gravity;

namespace {

Table exponential_disk_table() {
    Table table;
    for (int i = 0; i <= 132; ++i) {
        table.radius.push_back(0.01 * std::pow(10, i / 40.));
        table.density.push_back(5 * std::exp(-table.radius.back()));
    }
    return table;
}

Component disk_with(Law law, double scale, Truncation cut = {}) {
    Component c;
    c.law = std::move(law);
    c.scale = scale;
    c.truncation = cut;
    c.disk.height = scale / 10;
    return c;
}

struct SurfaceCase {
    std::string name;
    Component component;
    double tolerance;
    friend void PrintTo(const SurfaceCase& each, std::ostream* to) { *to << each.name; }
};

class SurfaceDensity : public testing::TestWithParam<SurfaceCase> {};

TEST_P(SurfaceDensity, DerivativesAreThoseOfTheValue) {
    const auto& [label, component, tolerance] = GetParam();
    const auto sigma = surface_density(component);
    const auto& cut = component.truncation;
    const double last = std::log(cut ? cut.radius + 2 * cut.width : 10 * component.scale);
    for (double t = std::log(component.scale) - 9; t < last; t += 0.173) {
        const double R = std::exp(t);
        const auto at = sigma(R);
        const double h = 0.04 / (10 + std::abs(R * at.d / at.sigma));
        // Derivatives by ln R of R^k times each: of order one where the function is not steep.
        const double size = at.sigma * (1 + std::pow(std::abs(R * at.d / at.sigma), 3));
        EXPECT_NEAR(stencil([&](double s) { return sigma(std::exp(s)).sigma; }, t, h), R * at.d, tolerance * size) << R;
        EXPECT_NEAR(R * stencil([&](double s) { return sigma(std::exp(s)).d; }, t, h), R * R * at.dd, tolerance * size) << R;
        EXPECT_NEAR(R * R * stencil([&](double s) { return sigma(std::exp(s)).dd; }, t, h), R * R * R * at.ddd, tolerance * size) << R;
    }
}

// Rounding: eps / h = 6e-14 times the derivatives' cancelling terms; the spline's third derivative jumps, which a stencil across a
// knot averages.
INSTANTIATE_TEST_SUITE_P(Laws, SurfaceDensity,
                         testing::Values(SurfaceCase{"exponential", disk_with(ExponentialDisk{}, 5.4), 1e-11},
                                         SurfaceCase{"exponential_cut", disk_with(ExponentialDisk{}, 5.4, {54, 5.4}), 1e-10},
                                         SurfaceCase{"sersic_half", disk_with(SersicDisk{0.5}, 2), 1e-11},
                                         SurfaceCase{"sersic_four_cut", disk_with(SersicDisk{4}, 2, {40, 8}), 1e-10},
                                         SurfaceCase{"table", disk_with(TabulatedDisk{exponential_disk_table()}, 1, {8, 0.8}), 0.05}),
                         [](const auto& one) { return one.param.name; });

TEST(SurfaceDensityLaw, ExponentialDiskIsItself) {
    const auto sigma = surface_density(disk_with(ExponentialDisk{}, 2));
    for (const double R : {1e-6, 0.1, 2., 30.}) EXPECT_NEAR(sigma(R).sigma / sigma(1e-9).sigma, std::exp(-(R - 1e-9) / 2), 1e-14);
    const auto center = sigma(0);
    EXPECT_NEAR(center.d / center.sigma, -0.5, 1e-11);
    EXPECT_NEAR(center.dd / center.sigma, 0.25, 1e-11);
    EXPECT_NEAR(center.ddd / center.sigma, -0.125, 1e-11);
}

TEST(SurfaceDensityLaw, TableGivesBackItsFunction) {
    const auto sigma = surface_density(disk_with(TabulatedDisk{exponential_disk_table()}, 1, {8, 0.8}));
    const auto exact = [](double R) { return std::exp(-R) * std::erfc((R - 8) / 0.8); };
    // Spline of ln Sigma = -e^t: 5 h^4/384 R = 1.4e-7 R with h = 0.0576.
    for (const double R : {0.05, 0.3, 1., 4., 7., 9.}) {
        EXPECT_NEAR(sigma(R).sigma / sigma(1).sigma, exact(R) / exact(1), 3e-7 * (1 + R) * exact(R) / exact(1)) << R;
    }
}

TEST(SurfaceDensityLaw, HalfOfASersicDiskLiesInsideItsScale) {
    for (const double n : {0.5, 1., 2.2, 4., 10.}) {
        const auto c = disk_with(SersicDisk{n}, 3);
        const double whole = surface_mass(c, surface_end(c));
        EXPECT_NEAR(surface_mass(c, 3) / whole, 0.5, 1e-12) << n;
        const double b = sersic_b(n);
        EXPECT_NEAR(whole / (2 * std::numbers::pi * 9 * n * std::exp(b) * std::pow(b, -2 * n) * std::tgamma(2 * n)), 1, 1e-12) << n;
    }
}

TEST(SurfaceDensityLaw, MassOfAnExponentialDisk) {
    const auto c = disk_with(ExponentialDisk{}, 1);
    const double unit = 2 * std::numbers::pi * std::exp(1);  // Sigma(scale) = 1
    for (const double R : {1e-3, 0.5, 5., 40.}) {
        const double share = -std::expm1(-R) - R * std::exp(-R);
        EXPECT_NEAR(surface_mass(c, R) / unit, share, 1e-12 * share + 1e-16) << R;
    }
    EXPECT_EQ(surface_mass(c, 0), 0);
    const double end = surface_end(c);
    EXPECT_LT((1 + end) * std::exp(-end), 1e-16);
}

TEST(SurfaceDensityLaw, ATruncatedDiskEndsWithItsTruncation) {
    const auto c = disk_with(ExponentialDisk{}, 1, {10, 1});
    EXPECT_EQ(surface_end(c), 17);
    EXPECT_EQ(surface_density(c)(50).sigma, 0);
    EXPECT_EQ(surface_density(c)(50).ddd, 0);
    EXPECT_NEAR(surface_density(c)(10).sigma / std::exp(1 - 10.), 0.5, 1e-14);
}

TEST(SersicB, KnownValues) {
    EXPECT_NEAR(sersic_b(0.5), std::numbers::ln2, 1e-15);
    EXPECT_NEAR(sersic_b(1), 1.6783469900166605, 4e-15);  // (1 + b) e^-b = 1/2
    EXPECT_NEAR(sersic_b(4), 7.6692494425008039, 2e-14);  // [Ciotti & Bertin 1999: 7.669]
    // The median of the gamma distribution to a^-4, a = 2n; the next term is about 1e-3 a^-5.            [Choi 1994, Proc. AMS 121]
    const double a = 20;
    const double median =
        a - 1. / 3 + 8 / (405 * a) + 184 / (25515 * a * a) + 2248 / (3444525 * std::pow(a, 3)) - 19006408 / (15345358875 * std::pow(a, 4));
    EXPECT_NEAR(sersic_b(10), median, 1e-9);
}

}  // namespace
