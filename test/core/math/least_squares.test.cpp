#include <kasane/core/base/error.hpp>
#include <kasane/core/math/least_squares.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace kasane;

TEST(LeastSquares, LineByHand) {
    // x = 0, 1, 2, 3 and y = 1, 3, 4, 8: means 1.5 and 4, sums of (x - 1.5)(y - 4) = 11 and (x - 1.5)^2 = 5, so slope 2.2 and intercept
    // 0.7. y - (0.7 + 2.2 x) = 0.3, 0.1, -1.1, 0.7, whose squares add up to 1.8, so that scatter^2 = 1.8 / 2.
    const auto fit = fit_line({0, 1, 2, 3}, {1, 3, 4, 8});
    EXPECT_NEAR(fit.slope, 2.2, 1e-14);
    EXPECT_NEAR(fit.intercept, 0.7, 1e-14);
    EXPECT_NEAR(fit.scatter, std::sqrt(0.9), 1e-14);
    EXPECT_NEAR(fit.slope_error, std::sqrt(0.9 / 5), 1e-14);
    EXPECT_NEAR(fit.intercept_error, std::sqrt(0.9 * (1 / 4. + 1.5 * 1.5 / 5)), 1e-14);
}

TEST(LeastSquares, TwoPointsLeaveNothingOver) {
    const auto fit = fit_line({1, 3}, {5, 9});
    EXPECT_NEAR(fit.slope, 2, 1e-14);
    EXPECT_NEAR(fit.intercept, 3, 1e-14);
    EXPECT_EQ(fit.slope_error, 0);
}

TEST(LeastSquares, SynchronisationOfThePaper) {
    // t_tot = t_sync + N_sub t_kernel ([MTM13] section 5) with table 2's numbers for one device, disturbed by +-1%, alternately. The
    // slope's error is at most sum |x - mean| |d| / sum (x - mean)^2 with |d| <= 1% of the largest total.
    const double t_sync = 2.97e-5, t_kernel = 1.61e-6;
    std::vector<double> x, y;
    for (int k = 0; k < 20; ++k) {
        x.push_back(50.0 * k);
        y.push_back((t_sync + 50.0 * k * t_kernel) * (k % 2 == 0 ? 1.01 : 0.99));
    }
    const auto fit = fit_line(x, y);
    double along = 0, squares = 0;
    for (const double at : x) along += std::abs(at - 475) * 0.01 * y.back(), squares += (at - 475) * (at - 475);
    EXPECT_NEAR(fit.slope, t_kernel, along / squares);
    EXPECT_LT(std::abs(fit.slope - t_kernel), 4 * fit.slope_error);
    EXPECT_LT(std::abs(fit.intercept - t_sync), 4 * fit.intercept_error);
}

TEST(LeastSquares, ExactAcrossScales) {
    // 1e-6 + 3e-10 n + 2e-13 n^2 at n to a million: coefficients and columns that differ by 13 orders of magnitude.
    std::vector<std::vector<double>> rows;
    std::vector<double> y;
    for (double n = 1024; n <= 1048576; n *= 2) {
        rows.push_back({1, n, n * n});
        y.push_back(1e-6 + 3e-10 * n + 2e-13 * n * n);
    }
    const auto fit = relative_least_squares(rows, y, Sign::non_negative);
    EXPECT_NEAR(fit.value[0], 1e-6, 1e-15);
    EXPECT_NEAR(fit.value[1], 3e-10, 1e-18);
    EXPECT_NEAR(fit.value[2], 2e-13, 1e-21);
    EXPECT_LT(fit.largest, 1e-10);
}

TEST(LeastSquares, HoldsANegativeParameterAtZero) {
    // The free line through (1, 0), (2, 1), (3, 2) is x - 1. With no negative value the constant is held at zero and the slope is
    // (0 + 2 + 6) / 14.
    const std::vector<std::vector<double>> rows{{1, 1}, {1, 2}, {1, 3}};
    const std::vector<double> y{0, 1, 2};
    EXPECT_NEAR(least_squares(rows, y).value[0], -1, 1e-14);
    const auto held = least_squares(rows, y, Sign::non_negative);
    EXPECT_EQ(held.value[0], 0);
    EXPECT_EQ(held.error[0], 0);
    EXPECT_NEAR(held.value[1], 8. / 14, 1e-14);
    // All negative: all parameters are held at zero.
    const auto nothing = least_squares(rows, {-1, -2, -3}, Sign::non_negative);
    EXPECT_EQ(nothing.value, (std::vector<double>{0, 0}));
    EXPECT_NEAR(nothing.largest, 3, 1e-14);
}

TEST(LeastSquares, TheBestOfAllSetsOfSigns) {
    // The conditions that a solution with signs must meet (Karush, Kuhn, Tucker): the gradient is zero where a value is above zero, and not
    // negative where it is held.
    std::vector<std::vector<double>> rows;
    std::vector<double> y;
    for (int i = 0; i < 12; ++i) {
        const double t = 0.25 * i;
        rows.push_back({1, t, std::exp(-t), std::cos(t), t * t});
        y.push_back(2 - t + 0.3 * std::sin(5 * t));
    }
    const auto fit = least_squares(rows, y, Sign::non_negative);
    for (std::size_t k = 0; k < 5; ++k) {
        double gradient = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            double residual = -y[i];
            for (std::size_t j = 0; j < 5; ++j) residual += rows[i][j] * fit.value[j];
            gradient += residual * rows[i][k];
        }
        EXPECT_GE(fit.value[k], 0);
        if (fit.value[k] > 0)
            EXPECT_NEAR(gradient, 0, 1e-11);
        else
            EXPECT_GE(gradient, -1e-11);
    }
}

TEST(LeastSquares, Refuses) {
    EXPECT_THROW(fit_line({1, 1}, {2, 3}), InputError);
    EXPECT_THROW(fit_line({1}, {2}), InputError);
    EXPECT_THROW(least_squares({{1, 2}}, {1}), InputError);
    EXPECT_THROW(least_squares({{1, 2}, {2, 4}, {3, 6}}, {1, 2, 3}), InputError);
    EXPECT_THROW(least_squares({{1}, {std::nan("")}}, {1, 2}), InputError);
    EXPECT_THROW(relative_least_squares({{1}, {1}}, {1, 0}), InputError);
}

}  // namespace
