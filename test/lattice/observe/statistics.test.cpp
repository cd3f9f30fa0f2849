// Errors of correlated series: against AR(1) processes, whose autocorrelation time is known, and against numbers computed by hand.
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using namespace kasane;
using namespace kasane::lattice;

double gaussian(RandomStream& random) {
    const double r = std::sqrt(-2 * std::log(random.uniform()));
    return r * std::cos(2 * std::numbers::pi * random.uniform());
}

/// x_i+1 = a x_i + sqrt(1 - a^2) g, of variance 1: rho(t) = a^t, tau = 1/2 + a / (1 - a).
std::vector<double> ar1(double a, int n, std::uint64_t seed) {
    RandomStream random(seed, 7);
    std::vector<double> x{gaussian(random)};
    while (std::ssize(x) < n) x.push_back(a * x.back() + std::sqrt(1 - a * a) * gaussian(random));
    return x;
}
double tau_of(double a) { return 0.5 + a / (1 - a); }

TEST(Statistics, FindsTheAutocorrelationTimeOfAr1) {
    for (const double a : {0.0, 0.3, 0.8, 0.95}) {
        const auto e = estimate(ar1(a, 100'000, 1));
        // Noise of size tau_error, and as much again for the truncation by the window; four times that.
        EXPECT_NEAR(e.tau, tau_of(a), 8 * e.tau_error) << a;
        EXPECT_LT(e.tau_error, 0.1 * e.tau) << a;
        EXPECT_GT(e.window, a == 0.0 ? 0 : tau_of(a)) << a;
        EXPECT_NEAR(e.error, std::sqrt(2 * tau_of(a) / 1e5), 0.15 * e.error) << a;
        EXPECT_NEAR(e.mean, 0, 4 * e.error) << a;
    }
}

TEST(Statistics, TheErrorIsTheSpreadOfTheMeanOverManySeries) {
    const double a = 0.8;
    double square = 0, promised = 0;
    constexpr int series = 300;
    for (int i = 0; i < series; ++i) {
        const auto e = estimate(ar1(a, 1000, 100 + static_cast<std::uint64_t>(i)));
        square += e.mean * e.mean / series;  // the true mean is 0
        promised += e.error / series;
    }
    // 300 series determine their spread to 1 / sqrt(600) = 4%; three times that, and 3% for the window's bias at 100 tau.
    EXPECT_NEAR(promised, std::sqrt(square), 0.15 * promised);
    EXPECT_NEAR(std::sqrt(square), std::sqrt(2 * tau_of(a) / 1000), 0.15 * promised);
}

TEST(Statistics, OfShortAndConstantSeries) {
    EXPECT_TRUE(std::isnan(estimate({}).mean));
    const auto one = estimate({0.25});
    EXPECT_EQ(one.mean, 0.25);
    EXPECT_EQ(one.count, 1);
    EXPECT_TRUE(std::isnan(one.error));
    EXPECT_TRUE(std::isnan(one.tau));
    const auto same = estimate(std::vector<double>(50, 0.1));  // 0.1 is not a binary fraction: its mean rounds
    EXPECT_NEAR(same.mean, 0.1, 1e-15);
    EXPECT_EQ(same.error, 0);
    EXPECT_EQ(same.tau, 0.5);
    std::vector<double> alternating;
    for (int i = 0; i < 100; ++i) alternating.push_back(i % 2 ? 1 : -1);
    const auto e = estimate(alternating);  // its mean is exactly 0, and its summed autocorrelation function is negative
    EXPECT_EQ(e.mean, 0);
    EXPECT_TRUE(std::isnan(e.error) && std::isnan(e.tau) && std::isnan(e.tau_error));
    for (const auto& series : {std::vector{1., 5.}, {1., 5., 2., 4.}, {1., std::nan(""), 2.}, {1., INFINITY}, {1e-200, 3e-200}}) {
        const auto few = estimate(series);
        EXPECT_EQ(few.count, std::ssize(series));
        EXPECT_TRUE(std::isnan(few.error) && std::isnan(few.tau) && std::isnan(few.tau_error)) << few.error;
    }
    for (const int n : {3, 4, 5, 6, 7, 8})
        for (std::uint64_t seed = 1; seed < 40; ++seed) {
            const auto few = estimate(ar1(0.5, n, seed));
            EXPECT_TRUE(few.error > 0 || std::isnan(few.error)) << n;
            EXPECT_EQ(std::isnan(few.error), std::isnan(few.tau)) << n;
            EXPECT_FALSE(few.tau_error == 0) << n;
        }
}

TEST(Statistics, ErrorsScaleWithTheSeries) {
    const auto series = ar1(0.5, 500, 4);
    const auto one = estimate(series);
    for (const int exponent : {-1000, -600, 600, 1000}) {
        auto scaled = series;
        for (auto& value : scaled) value = std::ldexp(value, exponent);
        const auto e = estimate(scaled);
        EXPECT_EQ(e.mean, std::ldexp(one.mean, exponent));
        EXPECT_EQ(e.error, std::ldexp(one.error, exponent));
        EXPECT_EQ(e.tau, one.tau);
    }
}

TEST(Statistics, RefusesSeriesOfDifferentLengthsAndNegativeLags) {
    EXPECT_THROW(jackknife({{1, 2, 3}, {1, 2}}, 1, [](const auto& mean) { return mean[0]; }), LogicError);
    EXPECT_THROW(autocorrelation({1, 2, 4}, -1), LogicError);
}

TEST(Statistics, AutocorrelationFallsAsItShould) {
    const auto rho = autocorrelation(ar1(0.8, 100'000, 2), 10);
    ASSERT_EQ(rho.size(), 11U);
    EXPECT_EQ(rho[0], 1);
    // Bartlett: a rho of N numbers has an error of at most sqrt(2 tau / N) = 0.0095; four times that.
    for (int t = 0; t <= 10; ++t) EXPECT_NEAR(rho[static_cast<std::size_t>(t)], std::pow(0.8, t), 0.04) << t;
    EXPECT_EQ(autocorrelation({1, 2, 4}, 10).size(), 3U);
    EXPECT_TRUE(autocorrelation({1, 1, 1}, 10).empty());
}

const auto itself = [](const std::vector<double>& mean) { return mean[0]; };

TEST(Statistics, JackknifeOfAMeanIsItsStandardError) {
    const auto j = jackknife({{1, 2, 3, 4}}, 1, itself);
    EXPECT_DOUBLE_EQ(j.value, 2.5);
    EXPECT_DOUBLE_EQ(j.error, std::sqrt(5.0 / 12));  // variance 5/3 of a sample of 4
    EXPECT_EQ(j.bins, 4);
    const auto binned = jackknife({{1, 1, 3, 3, 99}}, 2, itself);
    EXPECT_DOUBLE_EQ(binned.value, 2) << "half a bin is left out";
    EXPECT_DOUBLE_EQ(binned.error, 1);
    EXPECT_EQ(binned.bins, 2);
    const auto one = jackknife({{5, 7}}, 2, itself);
    EXPECT_DOUBLE_EQ(one.value, 6);
    EXPECT_TRUE(std::isnan(one.error));
    EXPECT_TRUE(std::isnan(jackknife({{5, 7}}, 3, itself).value));
    EXPECT_TRUE(std::isnan(jackknife({}, 1, itself).value));
}

TEST(Statistics, JackknifeOfCorrelatedSeries) {
    const auto x = ar1(0.8, 100'000, 5);
    const auto j = jackknife({x}, 90, itself);  // bins of 20 tau miss 1 in 40 of the variance
    // 1111 bins determine their spread to 2%; four times that and the bias.
    EXPECT_NEAR(j.error, std::sqrt(2 * tau_of(0.8) / 1e5), 0.1 * j.error);
    // The variance of a Gaussian: sqrt(2 / N) times sqrt(2 tau of the squares), whose correlation is a^2t.
    auto square = x;
    for (auto& value : square) value *= value;
    const auto variance = jackknife({x, square}, 90, [](const auto& mean) { return mean[1] - mean[0] * mean[0]; });
    EXPECT_NEAR(variance.value, 1, 4 * variance.error);
    EXPECT_NEAR(variance.error, std::sqrt(2 * 2 * tau_of(0.64) / 1e5), 0.1 * variance.error);
}

}  // namespace
