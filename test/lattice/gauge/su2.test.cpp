// The heatbath's draw in SU(2) against its density, by chi-square over bins of equal probability.
#include <kasane/lattice/gauge/su2.body.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::lattice {
namespace {

/// Quantiles 1/bins, 2/bins, … of y in [0, 2] under exp(-strength y) sqrt(y (2 - y)), by the midpoint rule in q with y = q^2.
std::vector<double> quantiles(double strength, int bins) {
    const double end = std::min(std::sqrt(2.), std::sqrt(60 / std::max(strength, 1e-3)));
    constexpr int points = 200000;
    std::vector<double> cumulated{0};
    for (int i = 0; i < points; ++i) {
        const double q = (i + 0.5) / points * end, y = q * q;
        cumulated.push_back(cumulated.back() + std::exp(-strength * y) * std::sqrt(std::max(0., 2 - y)) * q * q);
    }
    std::vector<double> at;
    for (int bin = 1; bin < bins; ++bin) {
        const auto k = std::lower_bound(cumulated.begin(), cumulated.end(), cumulated.back() * bin / bins) - cumulated.begin();
        const double q = static_cast<double>(k) / points * end;
        at.push_back(q * q);
    }
    return at;
}

/// Chi-square of counts with equal expectations.
double chi_square(const std::vector<int>& counts, int draws) {
    const double expected = static_cast<double>(draws) / static_cast<double>(counts.size());
    double sum = 0;
    for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
    return sum;
}

constexpr int bins = 50, draws = 100000;
/// chi^2 has the mean 49 and the deviation 9.9; of 10^4 fair tests one passes 95.
constexpr double limit = 95;

TEST(RandomWords, AreTheBitsOfTheStream) {
    auto one = random_stream(7, RandomPurpose::heatbath, 11, 3);
    auto words = random_stream<RandomWords>(7, RandomPurpose::heatbath, 11, 3);
    for (int i = 0; i < 100; ++i) {
        const auto [first, second, third, fourth] = words.next();
        ASSERT_EQ(to_unit_interval(first | static_cast<std::uint64_t>(second) << 32), one.uniform());
        ASSERT_EQ(to_unit_interval(third | static_cast<std::uint64_t>(fourth) << 32), one.uniform());
    }
}

/// Calls check(bits) for words of all sizes, the ends of the range and random ones.
template <class Check>
void for_words(const Check& check) {
    for (const std::uint32_t bits : {0u, 1u, 2u, 3u, ~0u, ~0u - 1, 1u << 30, 1u << 31, 3u << 30}) check(bits);
    RandomWords random(9, 9);
    for (int i = 0; i < 200000; ++i) {
        const auto words = random.next();
        check(words.first >> (i % 32));
        check(~(words.second >> (i % 32)));
    }
}

TEST(HeatbathDeviates, HaveSinglePrecision) {
    double exponential = 0, cosine = 0, circle = 0, signed_one = 0;
    for_words([&](std::uint32_t bits) {
        // of the number that single precision gives the word: near 1, 2^-25 of it is all of -log
        const double u = static_cast<float>(bits | 1) * 0x1p-32, e = exponential_deviate(bits);
        exponential = std::max(exponential, std::abs(e + std::log(u)) / std::max(-std::log(u), 1e-30));
        const double sine = std::sin(std::numbers::pi / 2 * (bits * 0x1p-32));
        if (bits > 0) cosine = std::max(cosine, std::abs(squared_cosine(bits) / (sine * sine) - 1));
        const double exact = std::bit_cast<std::int32_t>(bits) * 0x1p-31;
        signed_one = std::max(signed_one, std::abs(signed_unit(bits) - exact) / std::max(std::abs(exact), 1e-30));
        const double angle = std::numbers::pi / 2 * ((bits >> 30) + std::bit_cast<std::int32_t>(bits << 2) * 0x1p-32);
        const auto [c, s] = circle_point(bits);
        circle = std::max({circle, std::abs(c - std::cos(angle)), std::abs(s - std::sin(angle))});
    });
    EXPECT_LT(exponential, 2e-7);
    EXPECT_LT(cosine, 4e-7);
    EXPECT_LT(circle, 2e-7);
    EXPECT_LT(signed_one, 6e-8);
    EXPECT_EQ(signed_unit(1u << 31), -1);
}

class Su2Draw : public testing::TestWithParam<double> {};

TEST_P(Su2Draw, FollowsItsDensity) {
    const double strength = GetParam();
    const auto at = quantiles(strength, bins);
    std::vector<int> count(bins);
    RandomWords random(1, 2);
    for (int i = 0; i < draws; ++i) {
        const double y = draw_deficit(strength, random);
        ASSERT_GE(y, 0);
        ASSERT_LE(y, 2);
        ++count[static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), y) - at.begin())];
    }
    EXPECT_LT(chi_square(count, draws), limit);
}

/// g = h direction^+ with h = (h0, isotropic): all angles of h equally likely.
TEST_P(Su2Draw, PointsEverywhere) {
    Su2 direction{{0.5, -0.1}, {0.7, 0.3}};
    const double length = std::sqrt(norm2(direction.a) + norm2(direction.b));
    direction = {direction.a * (1 / length), direction.b * (1 / length)};
    std::vector<int> polar(bins), azimuth(bins);
    RandomWords random(1, 3);
    for (int i = 0; i < draws; ++i) {
        const Su2 h = heatbath_su2(GetParam(), direction, random) * direction;
        ASSERT_NEAR(norm2(h.a) + norm2(h.b), 1, 1e-14);
        const double radius = std::sqrt(h.a.im * h.a.im + norm2(h.b));
        const auto bin = [](double of_one) { return static_cast<std::size_t>(std::min(bins - 1, static_cast<int>(of_one * bins))); };
        ++polar[bin((1 + h.a.im / radius) / 2)];
        ++azimuth[bin(0.5 + std::atan2(h.b.im, h.b.re) / (2 * std::numbers::pi))];
    }
    EXPECT_LT(chi_square(polar, draws), limit);
    EXPECT_LT(chi_square(azimuth, draws), limit);
}

// No staple, a very small one, both sides of the change of proposal, as weak and as strong as in updates, and stronger.
INSTANTIATE_TEST_SUITE_P(Strengths, Su2Draw, testing::Values(0., 1e-12, 0.02, 1., 1.699, 1.701, 4., 15., 300.));

TEST(Su2Draw, RejectionIsRareEverywhere) {
    // Acceptance is least where the proposals change; a draw takes 1.43 trials there.
    RandomWords random(4, 4);
    int failed = 0;
    for (int i = 0; i < 100000; ++i) failed += draw_deficit(small_strength * (1 + 1e-3 * (i % 3 - 1)), random) < 0;
    EXPECT_EQ(failed, 0);
}

TEST(Su2Reflection, KeepsTheTraceWithTheStaple) {
    RandomStream random(5, 5);
    for (int i = 0; i < 100; ++i) {
        Su3<double> w{};
        for (auto& row : w.e)
            for (auto& entry : row) entry = {random.uniform() - 0.5, random.uniform() - 0.5};
        for (const auto& [p, q] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
            const auto before = trace(w).re;
            auto reflected = w;
            const auto part = su2_part(w, p, q);
            multiply_rows(reflected, p, q, reflection_su2(part.direction));
            EXPECT_NEAR(trace(reflected).re, before, 1e-15);  // a few roundings of numbers below 1
            // The SU(2) part is replaced by its adjoint.
            const auto after = su2_part(reflected, p, q);
            EXPECT_NEAR(after.length, part.length, 1e-15);
            EXPECT_NEAR(after.direction.b.re, -part.direction.b.re, 1e-14);
            EXPECT_NEAR(after.direction.a.im, -part.direction.a.im, 1e-14);
        }
    }
}

}  // namespace
}  // namespace kasane::lattice
