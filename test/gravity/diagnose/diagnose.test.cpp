#include <kasane/core/base/error.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <reference/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>

using namespace kasane;
using namespace kasane::gravity;

namespace {

Particles of(std::vector<double> mass, std::vector<Vec3<double>> position, std::vector<Vec3<double>> velocity) {
    Particles p;
    p.resize(static_cast<index_t>(mass.size()));
    p.mass = std::move(mass), p.position = std::move(position), p.velocity = std::move(velocity);
    return p;
}

/// Isotropic oscillators about `center`: a = -(x - center), with phi and velocities that have sums known by hand.
struct Oscillators {
    Particles particles;
    std::vector<double> potential;
    std::vector<Vec3<double>> acceleration;
};
Oscillators oscillators(index_t n, const Vec3<double>& center, const Vec3<double>& drift) {
    Oscillators o{sample(Ball{.count = n}), {}, {}};
    for (std::size_t i = 0; i < o.particles.mass.size(); ++i) {
        const auto x = o.particles.position[i];
        o.acceleration.push_back(-x);
        o.potential.push_back(dot(x, x));
        o.particles.velocity[i] = x + drift;  // K in the frame of the centre = |W| / 2
        o.particles.position[i] += center;
    }
    return o;
}

}  // namespace

TEST(Diagnose, CircularPairByHand) {
    // Masses 1 and 3 at distance 4, G = 1: relative speed 1, about a centre of mass at (10, 0, 0) that moves with (0, 0, 2).
    const auto p = of({1, 3}, {{13, 0, 0}, {9, 0, 0}}, {{0, 0.75, 2}, {0, -0.25, 2}});
    const std::vector<double> potential = {-3. / 4, -1. / 4};
    const std::vector<Vec3<double>> acceleration = {{-3. / 16, 0, 0}, {1. / 16, 0, 0}};
    const auto d = diagnose(p, potential, acceleration, 5);
    EXPECT_EQ(d.time, 5);
    EXPECT_DOUBLE_EQ(d.kinetic, 0.375 + 8);
    EXPECT_DOUBLE_EQ(d.potential, -0.75);
    EXPECT_DOUBLE_EQ(d.energy, 0.375 + 8 - 0.75);
    EXPECT_DOUBLE_EQ(d.virial_ratio, 1);
    EXPECT_EQ(d.momentum, (Vec3<double>{0, 0, 8}));
    EXPECT_EQ(d.center_of_mass, (Vec3<double>{10, 0, 0}));
    EXPECT_EQ(center_of_mass(p), d.center_of_mass);
    // m x cross v: 1 (13, 0, 0) x (0, 3/4, 2) + 3 (9, 0, 0) x (0, -1/4, 2)
    EXPECT_EQ(d.angular_momentum, (Vec3<double>{0, -26 - 54, 9.75 - 6.75}));
    // 10% to 75% of the mass need the heavy body alone.
    EXPECT_EQ(d.lagrangian_radius, (std::vector<double>{1, 1, 1, 1, 3}));
}

TEST(Diagnose, VirialRatioDoesNotDependOnPositionAndVelocityOfTheSystem) {
    const auto here = oscillators(10'000, {}, {});
    EXPECT_NEAR(diagnose(here.particles, here.potential, here.acceleration, 0).virial_ratio, 1, 1e-13);
    const auto far = oscillators(10'000, {1e6, -1e6, 1e6}, {1e3, 1e3, 0});
    // Positions keep 1e-16 of 1e6, velocities 1e-16 of 1e3.
    EXPECT_NEAR(diagnose(far.particles, far.potential, far.acceleration, 0).virial_ratio, 1, 1e-9);
}

TEST(Diagnose, SameOnAnyNumberOfThreads) {
    const auto o = oscillators(50'001, {3, 4, 5}, {1, 2, 3});  // a last chunk that is not full
    const auto one = diagnose(o.particles, o.potential, o.acceleration, 0, Cpu{1});
    for (const int threads : {2, 3, 8}) {
        const auto d = diagnose(o.particles, o.potential, o.acceleration, 0, Cpu{threads});
        EXPECT_EQ(d.kinetic, one.kinetic);
        EXPECT_EQ(d.potential, one.potential);
        EXPECT_EQ(d.virial_ratio, one.virial_ratio);
        EXPECT_EQ(d.momentum, one.momentum);
        EXPECT_EQ(d.angular_momentum, one.angular_momentum);
        EXPECT_EQ(d.center_of_mass, one.center_of_mass);
        EXPECT_EQ(d.lagrangian_radius, one.lagrangian_radius);
    }
}

TEST(Diagnose, SumsAreCompensated) {
    // Momentum 1e16 + 1 - 1e16, across chunks.
    constexpr std::size_t n = 10'001;
    auto p = of(std::vector<double>(n, 1), std::vector<Vec3<double>>(n), std::vector<Vec3<double>>(n));
    p.velocity[0].x = 1e16;
    p.velocity[1].x = 1;
    p.velocity[n - 1].x = -1e16;
    const auto d = diagnose(p, std::vector<double>(n), std::vector<Vec3<double>>(n), 0);
    // Each chunk is rounded once to double, and 1e16 + 1 is a tie there: its neighbours are 2 apart.
    EXPECT_NEAR(d.momentum.x, 1, 1);
    p.velocity[n - 1].x = 0, p.velocity[2].x = -1e16;
    EXPECT_EQ(diagnose(p, std::vector<double>(n), std::vector<Vec3<double>>(n), 0).momentum.x, 1);
}

TEST(Diagnose, LoneParticleHasNoVirial) {
    const auto d = diagnose(of({2}, {{1, 2, 3}}, {{4, 0, 0}}), {0}, {{0, 0, 0}}, 0);
    EXPECT_EQ(d.virial_ratio, 0);
    EXPECT_EQ(d.energy, 16);
    EXPECT_EQ(d.lagrangian_radius, std::vector<double>(std::size(lagrangian_fractions), 0.));
}

TEST(Diagnose, BadInput) {
    const auto p = of({1, 1}, {{}, {}}, {{}, {}});
    EXPECT_THROW(diagnose(p, {0}, {{}, {}}, 0), InputError);
    EXPECT_THROW(diagnose(p, {0, 0}, {{}}, 0), InputError);
    EXPECT_THROW(diagnose({}, {}, {}, 0), InputError);
    const auto massless = of({0, 0}, {{}, {}}, {{}, {}});
    EXPECT_THROW(diagnose(massless, {0, 0}, {{}, {}}, 0), InputError);
    EXPECT_THROW(center_of_mass(massless), InputError);
    EXPECT_THROW(lagrangian_radii(massless, {}, {0.5}), InputError);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {-0.1, 1.1, nan}) EXPECT_THROW(lagrangian_radii(p, {}, {bad}), InputError) << bad;
}

TEST(LagrangianRadii, WeighedByMass) {
    const auto p = of({1, 2, 3, 4}, {{4, 0, 0}, {0, 3, 0}, {0, 0, -2}, {1, 0, 0}}, std::vector<Vec3<double>>(4));
    EXPECT_EQ(lagrangian_radii(p, {}, {0.4, 0.41, 0.7, 0.71, 0.9, 1}), (std::vector<double>{1, 2, 2, 3, 3, 4}));
    EXPECT_EQ(lagrangian_radii(p, {}, {1, 0, 0.5}), (std::vector<double>{4, 0, 2}));  // in any order
    EXPECT_EQ(lagrangian_radii(p, {1, 0, 0}, {0.3}), (std::vector<double>{0}));       // about the last one
}

TEST(LagrangianRadii, ThirdsOfEqualMasses) {
    // 0.1 has no exact double: the sum of three must still count as 30%.
    std::vector<Vec3<double>> x;
    for (int i = 1; i <= 10; ++i) x.push_back({static_cast<double>(i), 0, 0});
    const auto p = of(std::vector<double>(10, 0.1), x, std::vector<Vec3<double>>(10));
    EXPECT_EQ(lagrangian_radii(p, {}, {0.1, 0.3, 0.6, 0.7, 0.9, 1}), (std::vector<double>{1, 3, 6, 7, 9, 10}));
}

TEST(LagrangianRadii, OfAPlummerSphere) {
    constexpr index_t n = 100'000;
    const auto p = sample(Component{.law = Plummer{}, .count = n}, 11);
    const std::vector<double> fractions = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9};
    const auto radii = lagrangian_radii(p, center_of_mass(p), fractions);
    for (std::size_t k = 0; k < fractions.size(); ++k) {
        const double f = fractions[k], r = reference::Plummer::radius(f);
        // A quantile's deviation: sqrt(f (1 - f) / N) over the density of mass in r.
        const double deviation = std::sqrt(f * (1 - f) / n) / (4 * reference::pi * r * r * reference::Plummer::density(r));
        EXPECT_NEAR(radii[k], r, 5 * deviation) << f;
    }
}
