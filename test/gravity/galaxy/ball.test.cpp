#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/ball.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using namespace kasane;
using namespace kasane::gravity;

namespace {

double length(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

/// Chi-square of (|x| / radius)^3 over 50 bins: at five standard deviations, as in sampler.test.cpp. The centre of mass was moved by
/// about 3/sqrt(5 N): the last bin's edge blurs by less than a tenth of its width.
void expect_uniform_ball(const std::vector<Vec3<double>>& vectors, double radius) {
    constexpr int bins = 50;
    std::vector<double> count(bins);
    for (const auto& x : vectors) ++count[static_cast<std::size_t>(std::min(std::pow(length(x) / radius, 3) * bins, bins - 1.))];
    const double expected = static_cast<double>(vectors.size()) / bins;
    double chi2 = 0;
    for (const double c : count) chi2 += (c - expected) * (c - expected) / expected;
    EXPECT_NEAR(chi2, bins - 1, 5 * std::sqrt(2. * (bins - 1)));
}

std::vector<std::string> bad_ball_keys(const Ball& ball) {
    std::vector<std::string> keys;
    try {
        sample(ball);
    } catch (const InputError& error) {
        for (const auto& problem : error.problems()) keys.push_back(problem.where.key);
    }
    return keys;
}
using BallKeys = std::vector<std::string>;

}  // namespace

TEST(Ball, IsUniformInSpaceAndVelocities) {
    const auto p = sample(Ball{.count = 100'000, .mass = 5, .radius = 3, .G = 2});
    expect_uniform_ball(p.position, 3);
    expect_uniform_ball(p.velocity, std::sqrt(2 * 5 / 3.));
    EXPECT_NEAR(std::accumulate(p.mass.begin(), p.mass.end(), 0.), 5, 1e-9);
    // 2K = 3/5 M u^2 = 3/5 G M^2 / R; the scatter of K is 0.65/sqrt(N).
    double kinetic = 0;
    for (std::size_t i = 0; i < p.mass.size(); ++i) kinetic += p.mass[i] * dot(p.velocity[i], p.velocity[i]) / 2;
    EXPECT_NEAR(2 * kinetic / (0.6 * 2 * 25 / 3), 1, 0.01);
}

TEST(Ball, ColdIsAtRest) {
    const auto p = sample(Ball{.motion = Ball::Motion::cold, .count = 100'000});
    expect_uniform_ball(p.position, 1);
    for (const auto& v : p.velocity) EXPECT_EQ(v, Vec3<double>{});
}

TEST(Ball, APointIsOneParticle) {
    const auto p = sample(Ball{.motion = Ball::Motion::cold, .count = 1, .mass = 4, .type = 5});
    EXPECT_EQ(p.position[0], Vec3<double>{});
    EXPECT_EQ(p.mass[0], 4);
    EXPECT_EQ(p.type[0], 5);
    EXPECT_EQ(p.id[0], 1u);
}

TEST(Ball, RestsAndDoesNotDependOnThreads) {
    const Ball ball{.count = 20'001, .seed = 3};  // above the size from which threads are used
    const auto one = sample(ball, Cpu{1});
    Vec3<double> x, v;
    for (std::size_t i = 0; i < one.mass.size(); ++i) x += one.position[i], v += one.velocity[i];
    // Rounding of a plain sum of N terms of order 1.
    EXPECT_LT(length(x), 20'001 * 20'001 * 1.2e-16);
    EXPECT_LT(length(v), 20'001 * 20'001 * 1.2e-16);
    for (const int threads : {2, 3, 7}) {
        const auto p = sample(ball, Cpu{threads});
        EXPECT_EQ(p.position, one.position);
        EXPECT_EQ(p.velocity, one.velocity);
    }
    EXPECT_NE(sample(Ball{.count = 2, .seed = 4}).position, sample(Ball{.count = 2, .seed = 5}).position);
}

TEST(Ball, FillsAnyRangeOfTheParticles) {
    const Ball ball{.count = 70'001, .seed = 5, .mass = 3, .radius = 2, .type = 4};  // more than a block of the sums
    const auto all = sample(ball);
    const BallSampler sampler(ball, Cpu{2});
    ASSERT_EQ(sampler.size(), 70'001);
    Particles part;
    for (const auto& [first, n] : {std::pair<index_t, index_t>{0, 3}, {65'530, 12}, {69'999, 2}, {17, 0}}) {
        sampler.fill(part, first, n);
        ASSERT_EQ(part.size(), n);
        for (index_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(i), of_all = static_cast<std::size_t>(first + i);
            EXPECT_EQ(part.position[k], all.position[of_all]);
            EXPECT_EQ(part.velocity[k], all.velocity[of_all]);
            EXPECT_EQ(part.mass[k], all.mass[of_all]);
            EXPECT_EQ(part.id[k], all.id[of_all]);
            EXPECT_EQ(part.type[k], 4);
        }
    }
}

TEST(Ball, BadOptionsAreNamed) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(bad_ball_keys({.count = 10}), BallKeys{});
    for (const index_t bad : {index_t{0}, index_t{-5}, (index_t{1} << 40) + 1}) EXPECT_EQ(bad_ball_keys({.count = bad}), BallKeys{"count"});
    for (const double bad : {0., -1., nan, inf}) {
        EXPECT_EQ(bad_ball_keys({.count = 1, .mass = bad}), BallKeys{"mass"});
        EXPECT_EQ(bad_ball_keys({.count = 1, .radius = bad}), BallKeys{"radius"});
        EXPECT_EQ(bad_ball_keys({.count = 1, .G = bad}), BallKeys{"G"});
    }
    EXPECT_EQ(bad_ball_keys({.count = 1, .type = 6}), BallKeys{"type"});
    EXPECT_EQ(bad_ball_keys({.count = 0, .mass = 0, .type = 9}), (BallKeys{"count", "mass", "type"}));
}
