#include <kasane/gravity/galaxy/profile.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace kasane::gravity;

namespace {

// Central differences with h = 1e-4 scales: relative truncation error h^2/6 (some tens), rounding 1e-16 / h.
void expect_derivatives(const std::function<DensityAt(double)>& density, double scale) {
    for (const double r : {1e-3, 0.1, 0.9, 1., 1.1, 3., 20.}) {
        const double h = 1e-4 * std::min(r, scale);
        const auto at = density(r), below = density(r - h), above = density(r + h);
        const double size = std::abs(at.d) + at.rho / r;
        EXPECT_NEAR(at.d, (above.rho - below.rho) / (2 * h), 1e-5 * size) << r;
        EXPECT_NEAR(at.dd, (above.d - below.d) / (2 * h), 1e-5 * (std::abs(at.dd) + size / r)) << r;
    }
}

}  // namespace

TEST(Profile, AnalyticDerivativesAreTheDensities) {
    expect_derivatives(PlummerProfile::at, 1);
    expect_derivatives(HernquistProfile::at, 1);
    expect_derivatives(NfwProfile::at, 1);
}

TEST(Profile, TruncationKeepsDerivativesExact) {
    const Cut cut{1, 0.2};
    expect_derivatives([&](double r) { return cut(PlummerProfile::at(r), r); }, 0.2);
    expect_derivatives([&](double r) { return cut(NfwProfile::at(r), r); }, 0.2);
}

TEST(Profile, TruncationHalvesAtItsRadiusAndEmptiesTheOutside) {
    const Cut cut{10, 1};
    EXPECT_DOUBLE_EQ(cut(NfwProfile::at(10), 10).rho, NfwProfile::at(10).rho / 2);
    EXPECT_DOUBLE_EQ(cut(NfwProfile::at(1), 1).rho, NfwProfile::at(1).rho);
    EXPECT_LT(cut(NfwProfile::at(cut.end()), cut.end()).rho, 1e-22 * NfwProfile::at(cut.end()).rho);
    EXPECT_FALSE(Cut{});
    EXPECT_TRUE(cut);
}

TEST(Profile, Slopes) {
    // d ln rho / d ln r at both ends: Plummer 0 and -5, Hernquist -1 and -4, NFW -1 and -3.
    const auto slope = [](DensityAt at, double r) { return at.d * r / at.rho; };
    EXPECT_NEAR(slope(PlummerProfile::at(1e-6), 1e-6), 0, 1e-5);
    EXPECT_NEAR(slope(PlummerProfile::at(1e6), 1e6), -5, 1e-5);
    EXPECT_NEAR(slope(HernquistProfile::at(1e-6), 1e-6), -1, 1e-5);
    EXPECT_NEAR(slope(HernquistProfile::at(1e6), 1e6), -4, 1e-5);
    EXPECT_NEAR(slope(NfwProfile::at(1e-6), 1e-6), -1, 1e-5);
    EXPECT_NEAR(slope(NfwProfile::at(1e6), 1e6), -3, 1e-5);
}
