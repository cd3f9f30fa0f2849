#include <kasane/core/math/spline.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using kasane::CubicSpline;

TEST(CubicSpline, InterpolatesTheDataAndIsTwiceContinuouslyDifferentiable) {
    const std::vector<double> x{0, 1, 1.5, 4, 4.1, 7}, y{1, -2, 3, 0, 0.5, 2};
    const CubicSpline f(x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(f(x[i]).value, y[i], 1e-13);
        // Slopes and curvatures reach 1e3 at the close pair of knots; 1e-13 apart, the cubics differ by that times the next derivative.
        const auto left = f(x[i] - 1e-13), right = f(x[i] + 1e-13);
        EXPECT_NEAR(left.d, right.d, 1e-9);
        EXPECT_NEAR(left.dd, right.dd, 1e-8);
    }
}

TEST(CubicSpline, IsNaturalAndStraightBeyondTheEnds) {
    const CubicSpline f({0, 1, 3, 4}, {0, 2, 1, 5});
    EXPECT_NEAR(f(0).dd, 0, 1e-14);
    EXPECT_NEAR(f(4 - 1e-12).dd, 0, 1e-10);
    EXPECT_DOUBLE_EQ(f(-2).value, -2 * f(0).d);
    EXPECT_DOUBLE_EQ(f(6).value, 5 + 2 * f(4).d);
    EXPECT_EQ(f(6).dd, 0);
    EXPECT_EQ(f(-1).ddd, 0);
}

TEST(CubicSpline, StraightLinesAreExactWithTwoPointsToo) {
    const CubicSpline two({1, 3}, {5, 9}), many({0, 0.1, 2, 7, 7.5}, {3, 3.2, 7, 17, 18});
    for (const double x : {-1., 0.05, 1., 2.2, 7.2, 9.}) {
        EXPECT_NEAR(two(x).value, 3 + 2 * x, 1e-14);
        EXPECT_NEAR(many(x).value, 3 + 2 * x, 2e-14);
        EXPECT_NEAR(many(x).d, 2, 1e-13);
    }
}

TEST(CubicSpline, DerivativesAreThoseOfTheValue) {
    const CubicSpline f({0, 0.7, 1, 2, 3}, {0, 1, -1, 2, 0});
    const double h = 1e-3;  // cubics between knots: central differences of the first three are exact up to rounding and h^2 ddd
    for (const double x : {0.3, 0.85, 1.5, 2.5}) {
        const auto at = f(x);
        EXPECT_NEAR((f(x + h).value - f(x - h).value) / (2 * h), at.d + h * h / 6 * at.ddd, 1e-11);
        EXPECT_NEAR((f(x + h).d - f(x - h).d) / (2 * h), at.dd, 1e-10);
        EXPECT_NEAR((f(x + h).dd - f(x - h).dd) / (2 * h), at.ddd, 1e-9);
    }
}

// Natural ends cost h^2 next to them; three steps further in it is the fourth-order error 5 h^4/384 f''''.
TEST(CubicSpline, ErrorIsOfFourthOrderInside) {
    std::vector<double> x, y;
    const double h = 0.1;
    for (int i = 0; i <= 62; ++i) x.push_back(i * h), y.push_back(std::sin(i * h + 0.5));
    const CubicSpline f(x, y);
    double worst = 0;
    for (double t = 1.5; t < 4.7; t += 0.013) worst = std::max(worst, std::abs(f(t).value - std::sin(t + 0.5)));
    EXPECT_LT(worst, 5 * std::pow(h, 4) / 384 * 1.2);
    EXPECT_GT(worst, std::pow(h, 4) / 384 / 2);
}
