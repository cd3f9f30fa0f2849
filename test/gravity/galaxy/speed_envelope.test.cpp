#include <kasane/gravity/galaxy/speed_envelope.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace kasane;
using namespace kasane::gravity;

namespace {

/// Steps of 2% with the exact maximum of a density that rises up to `peak` and falls after it.
void set(SpeedEnvelope& envelope, std::size_t cell, const std::function<double(double)>& density, double peak) {
    std::vector<double> q{0}, bound;
    for (double x = 1e-6; x < 1; x *= 1.02) q.push_back(x);
    q.push_back(1);
    for (std::size_t i = 0; i + 1 < q.size(); ++i) bound.push_back(density(std::clamp(peak, q[i], q[i + 1])));
    envelope.set(cell, q, bound);
}

}  // namespace

// A Maxwellian as cold as 1e-4 of the greatest speed: drawn right, and from few trials.
TEST(SpeedEnvelope, ColdAndHot) {
    SpeedEnvelope envelope(0, 3, 1);
    ASSERT_EQ(envelope.cells(), 3u);
    EXPECT_DOUBLE_EQ(envelope.edge(2), 2);
    const double sigmas[] = {1e-4, 0.05, 10};
    const auto density = [&](std::size_t cell) {
        return [sigma = sigmas[cell]](double q) { return q * q * std::exp(-q * q / (2 * sigma * sigma)); };
    };
    for (std::size_t cell = 0; cell < 3; ++cell) set(envelope, cell, density(cell), std::sqrt(2.) * sigmas[cell]);
    constexpr int n = 200'000, bins = 50;
    for (std::size_t cell = 0; cell < 3; ++cell) {
        const auto of = density(cell);
        // The cumulative distribution over its own width.
        const double width = std::min(1., 8 * sigmas[cell]);
        std::vector<double> cumulated{0};
        for (int i = 0; i < 20000; ++i) cumulated.push_back(cumulated.back() + of((i + 0.5) / 20000 * width));
        std::vector<double> count(bins);
        int trials = 0;
        for (int i = 0; i < n; ++i) {
            RandomStream random(7, static_cast<std::uint64_t>(i));
            const double q = envelope.draw(static_cast<double>(cell) + 0.5, [&](double x) { return ++trials, of(x); }, random);
            const double u = cumulated[static_cast<std::size_t>(std::min(q / width, 1.) * 20000)] / cumulated.back();
            ++count[static_cast<std::size_t>(std::min(u * bins, bins - 1.))];
        }
        double chi2 = 0;
        for (const double c : count) chi2 += (c - n / bins) * (c - n / bins) / (n / bins);
        EXPECT_LT(chi2, bins - 1 + 5 * std::sqrt(2. * (bins - 1))) << cell;
        EXPECT_LT(trials, 1.4 * n) << "cell " << cell;
    }
}

TEST(SpeedEnvelope, ZeroBoundsGiveSpeedZero) {
    SpeedEnvelope envelope(0, 1, 1);
    envelope.set(0, {0, 0.5, 1}, {0, 0});
    RandomStream random(1, 1);
    EXPECT_EQ(envelope.draw(0.5, [](double) { return 0.; }, random), 0);
}

// The sampler must end for a density that is NaN, or 0 where the bound is not.
TEST(SpeedEnvelope, EndsForAnyDensity) {
    SpeedEnvelope envelope(0, 1, 1);
    envelope.set(0, {0, 0.5, 1}, {1, 1});
    RandomStream random(1, 1);
    EXPECT_EQ(envelope.draw(0.5, [](double) { return 0.; }, random), 0);
    EXPECT_EQ(envelope.draw(0.5, [](double) { return std::nan(""); }, random), 0);
}
