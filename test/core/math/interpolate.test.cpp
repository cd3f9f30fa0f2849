#include <kasane/core/math/interpolate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using kasane::monotone_slopes;
using kasane::UniformHermite;

namespace {
struct Sampled {
    std::vector<double> values, slopes;
};
Sampled sine(double first, double step, int n) {
    Sampled s;
    for (int i = 0; i < n; ++i) {
        s.values.push_back(std::sin(first + i * step));
        s.slopes.push_back(std::cos(first + i * step));
    }
    return s;
}
}  // namespace

TEST(UniformHermite, ErrorIsHToTheFourthOver384) {
    const double h = 0.1;
    const auto [values, slopes] = sine(-1, h, 31);
    const UniformHermite f(-1, h, values, slopes);
    double worst = 0;
    for (double x = -1; x < 2; x += 0.0037) worst = std::max(worst, std::abs(f(x) - std::sin(x)));
    EXPECT_LT(worst, h * h * h * h / 384);
    EXPECT_GT(worst, h * h * h * h / 384 / 2);  // the bound is met where |sin''''| is near 1
}

TEST(UniformHermite, InterpolatesTheDataAndExtrapolatesLinearly) {
    const UniformHermite f(2, 0.5, {1, 4, 9}, {1, 2, 3});
    EXPECT_EQ(f(2), 1);
    EXPECT_EQ(f(2.5), 4);
    EXPECT_EQ(f(3), 9);
    EXPECT_DOUBLE_EQ(f(1), 0);
    EXPECT_DOUBLE_EQ(f(5), 15);
}

TEST(UniformHermite, InverseOfTheInterpolantIsX) {
    const auto [values, slopes] = sine(-1.5, 0.05, 61);
    const UniformHermite f(-1.5, 0.05, values, slopes);
    // The slope is least at the ends, cos(1.5) = 0.07: rounding of f grows by its inverse.
    for (double x = -1.5; x <= 1.5; x += 0.0123) EXPECT_NEAR(f.inverse(f(x)), x, 1e-14);
    EXPECT_EQ(f.inverse(-2), f.first());
    EXPECT_EQ(f.inverse(2), f.last());
}

TEST(MonotoneSlopes, FourthOrderOnSmoothData) {
    const double h = 0.05;
    std::vector<double> values;
    for (int i = 0; i < 41; ++i) values.push_back(std::exp(i * h));
    const auto slopes = monotone_slopes(values, h);
    // Five-point difference: error h^4/30 f'''''.
    for (std::size_t i = 2; i < 39; ++i) EXPECT_NEAR(slopes[i] / values[i], 1, std::pow(h, 4) / 30 * 1.2);
}

TEST(MonotoneSlopes, NoOvershootAtAStep) {
    const std::vector<double> values = {0, 0, 0, 1e-9, 1, 1, 1, 0.5};
    const UniformHermite f(0, 1, values, monotone_slopes(values, 1));
    for (double x = 0; x <= 7; x += 0.01) {
        EXPECT_GE(f(x), 0);
        EXPECT_LE(f(x), 1);
    }
    double before = 0;
    for (double x = 0; x <= 6; x += 0.01) {
        EXPECT_GE(f(x), before);
        before = f(x);
    }
}

TEST(MonotoneSlopes, FewData) {
    EXPECT_EQ(monotone_slopes({1, 3}, 2), (std::vector<double>{1, 1}));
    const auto line = monotone_slopes({0, 1, 2}, 1);
    for (const double slope : line) EXPECT_DOUBLE_EQ(slope, 1);
}
