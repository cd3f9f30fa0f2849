#include <kasane/core/math/quadrature.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using kasane::integrate;
using kasane::integrate_short;
using std::numbers::pi;

namespace {
template <class F>
void expect_integral(double expected, F f, double a, double b, double tolerance) {
    const auto result = integrate(f, a, b, tolerance);
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(result.value, expected, tolerance * result.magnitude);
}
}  // namespace

TEST(TanhSinh, SmoothIntegrands) {
    expect_integral(std::numbers::e - 1, [](double x) { return std::exp(x); }, 0, 1, 1e-13);
    expect_integral(pi / 4, [](double x) { return 1 / (1 + x * x); }, 0, 1, 1e-13);
    expect_integral(0, [](double x) { return std::sin(x); }, -2, 2, 1e-13);
    expect_integral(-1. / 3, [](double x) { return x * x; }, 1, 0, 1e-13);
}

TEST(TanhSinh, SingularEnds) {
    expect_integral(2, [](double x) { return 1 / std::sqrt(x); }, 0, 1, 1e-12);
    expect_integral(-1, [](double x) { return std::log(x); }, 0, 1, 1e-12);
    // At an end that is not 0, x keeps no digits of x - end below 1e-16: an inverse square root loses half of them.
    expect_integral(pi, [](double x) { return 1 / std::sqrt((1 - x) * (1 + x)); }, -1, 1, 3e-8);
    // The integral of Eddington's formula for a Plummer sphere: Beta(4, 1/2).
    expect_integral(32. / 35, [](double x) { return std::pow(1 - x, 3) / std::sqrt(x); }, 0, 1, 1e-12);
}

TEST(TanhSinh, NarrowPeakInside) {
    const double width = 1e-2;
    expect_integral(std::sqrt(pi) * width, [&](double x) { return std::exp(-std::pow((x - 0.3) / width, 2)); }, 0, 1, 1e-10);
}

TEST(TanhSinh, ReportsWhenItDoesNotConverge) {
    EXPECT_FALSE(integrate([](double x) { return std::sin(1e5 * x); }, 0, 1, 1e-12).converged);
}

TEST(TanhSinh, EmptyInterval) {
    EXPECT_EQ(integrate([](double) { return 1.; }, 2, 2).value, 0);
}

TEST(GaussLegendre, ExactToDegreeNine) {
    EXPECT_NEAR(integrate_short([](double x) { return std::pow(x, 9) + std::pow(x, 8); }, 0, 1), 1. / 10 + 1. / 9, 1e-15);
    // Degree 10 is beyond the rule: the remainder is (5!)^4 / (11 (10!)^2) = 1.4316e-6 on [0, 1] (Abramowitz & Stegun 25.4.29).
    EXPECT_NEAR(1. / 11 - integrate_short([](double x) { return std::pow(x, 10); }, 0, 1), 1.4316e-6, 1e-10);
}
