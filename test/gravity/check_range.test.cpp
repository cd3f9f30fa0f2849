// The range of positions in single precision: refused where pairs lose their force, accepted where the forces are right.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>

#include <reference/direct.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace kasane::gravity {
namespace {

/// A thousand particles with distances of about 1 from the origin.
Particles cluster() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    Particles particles;
    particles.resize(1000);
    for (auto& x : particles.position) x = {normal(random), normal(random), normal(random)};
    particles.mass.assign(1000, 1e-3);
    return particles;
}

/// The cluster with 10 of its particles, one of them sampled for the frame, at `factor` times their distance.
Particles with_far(double factor) {
    auto particles = cluster();
    for (std::size_t i = 0; i < 10; ++i) particles.position[i] = factor * particles.position[i];
    return particles;
}

bool accepted(const Particles& particles, const Direct& force, const AnySpace& on = Cpu{}) {
    try {
        check_range(particles, force, on);
        return true;
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("precision = \"double\""), std::string::npos) << error.what();
        return false;
    }
}

/// Largest relative error of an acceleration of the particles 10, 11, ... on the CPU.
double largest_error(const Particles& particles, const Direct& force) {
    std::vector<Vec3<double>> got(particles.position.size());
    const View<const Vec3<double>> position{particles.position.data(), particles.size()};
    DirectSum<Cpu>(Cpu{}, force)(position, {position, {particles.mass.data(), particles.size()}}, Self{0},
                                 {{got.data(), particles.size()}, {}});
    double largest = 0;
    for (std::size_t i = 10; i < got.size(); ++i) {
        const auto exact =
            reference::direct(particles.position[i], particles.position, particles.mass, static_cast<index_t>(i), force.softening, 1);
        const auto error = got[i] - exact.acceleration;
        largest = std::max(largest, std::sqrt(dot(error, error) / dot(exact.acceleration, exact.acceleration)));
    }
    return largest;
}

TEST(CheckRange, AcceptsWhatIsRightAndRefusesPairsWithoutForce) {
    for (const double softening : {0.0, 0.01}) {
        Direct force;
        force.softening = softening;
        for (const double factor : {1.0, 1e9, 1e15}) {
            EXPECT_TRUE(accepted(with_far(factor), force)) << factor;
            EXPECT_LT(largest_error(with_far(factor), force), 1e-5) << factor;  // cancellation between sources: 50 roundings of 2^-23
        }
        EXPECT_FALSE(accepted(with_far(1e17), force)) << softening;
        EXPECT_GT(largest_error(with_far(1e17), force), 0.1) << "a run that is right is refused";
        force.precision = Precision::double_;
        EXPECT_TRUE(accepted(with_far(1e17), force)) << softening;
    }
}

TEST(CheckRange, DependsOnRatiosOnACpuAndOnTheUnitOfLengthOnADevice) {
    const Direct force;
    for (const double unit : {1e-9, 1e9, 1e15, 1e20}) {
        auto particles = cluster();
        for (auto& x : particles.position) x = unit * x;
        EXPECT_TRUE(accepted(particles, force)) << unit;
        EXPECT_LT(largest_error(particles, force), 1e-5) << unit;
#if defined(KASANE_CUDA)
        EXPECT_EQ(accepted(particles, force, Cuda{}), unit < 1e12) << unit;  // r^-3 is 0 beyond 9e14
#endif
    }
    auto moved = cluster();
    for (auto& x : moved.position) x += Vec3<double>{1e15, 0, -1e15};
    EXPECT_TRUE(accepted(moved, force)) << "positions are relative to the middle";
    auto heap = cluster();
    heap.position.assign(1000, {3, -4, 5});
    EXPECT_TRUE(accepted(heap, force)) << "particles at one place have no distance that could be too small";
}

}  // namespace
}  // namespace kasane::gravity
