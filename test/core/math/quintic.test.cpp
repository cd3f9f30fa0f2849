#include <kasane/core/math/quintic.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using kasane::UniformQuintic;

namespace {
template <class F>
UniformQuintic sampled(F f, double first, double step, int n) {
    std::vector<double> v, d, dd;
    for (int i = 0; i < n; ++i) {
        const auto at = f(first + i * step);
        v.push_back(at.value), d.push_back(at.d), dd.push_back(at.dd);
    }
    return UniformQuintic(first, step, v, d, dd);
}
kasane::ValueAndDerivatives sine_and_derivatives(double x) { return {std::sin(x), std::cos(x), -std::sin(x)}; }
}  // namespace

TEST(UniformQuintic, ErrorIsHToTheSixthOver46080) {
    const double h = 0.25;
    const auto f = sampled(sine_and_derivatives, -1, h, 13);
    double worst = 0;
    for (double x = -1; x < 2; x += 0.0037) worst = std::max(worst, std::abs(f(x).value - std::sin(x)));
    const double bound = std::pow(h, 6) / 46080;
    EXPECT_LT(worst, bound);
    EXPECT_GT(worst, bound / 2);  // met where |sin''''''| is near 1
}

TEST(UniformQuintic, IsExactForQuinticsWithTheirDerivatives) {
    const auto quintic = [](double x) {
        return kasane::ValueAndDerivatives{1 + x * x - 3 * std::pow(x, 5), 2 * x - 15 * std::pow(x, 4), 2 - 60 * x * x * x};
    };
    const auto f = sampled(quintic, -1, 0.5, 5);
    for (double x = -1; x <= 1; x += 0.01) {
        EXPECT_NEAR(f(x).value, quintic(x).value, 1e-14);
        EXPECT_NEAR(f(x).d, quintic(x).d, 1e-13);
        EXPECT_NEAR(f(x).dd, quintic(x).dd, 1e-12);
    }
}

TEST(UniformQuintic, ExtrapolatesLinearly) {
    const auto f = sampled(sine_and_derivatives, 0, 0.1, 11);
    EXPECT_DOUBLE_EQ(f(-2).value, -2);
    EXPECT_DOUBLE_EQ(f(-2).d, 1);
    EXPECT_DOUBLE_EQ(f(3).value, std::sin(1.) + 2 * std::cos(1.));
    EXPECT_EQ(f(3).dd, 0);
}

// 5 - 1e-10 e^(2x): the differences are 1e-12, where the values have a rounding of 1e-15; the slopes still determine them.
TEST(UniformQuintic, TinySlopesKeepTheirDigits) {
    const auto small = [](double x) { return 1e-10 * std::exp(2 * x); };
    const auto f =
        sampled([&](double x) { return kasane::ValueAndDerivatives{5 - small(x), -2 * small(x), -4 * small(x)}; }, -1, 1. / 64, 65);
    double worst = 0, worst_second = 0;
    for (double x = -1; x < 0; x += 0.00391) {
        worst = std::max(worst, std::abs(f(x).d / (-2 * small(x)) - 1));
        worst_second = std::max(worst_second, std::abs(f(x).dd / (-4 * small(x)) - 1));
    }
    // The rise errs by h^5/720 of the fifth derivative: 15/8 h^4/720 16 = 2.5e-9 of the slope, 10/sqrt(3) h^3/720 8 = 2.4e-7 of the
    // curvature.
    EXPECT_LT(worst, 2.6e-9);
    EXPECT_LT(worst_second, 2.6e-7);
}
