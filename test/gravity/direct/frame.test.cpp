// The frame of direct summation: the position of its origin, the validity and sharpness of its bounds for any input, the largest mass.
#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/direct/largest_mass.hpp>

#include <gravity/direct/cases.hpp>
#include <gravity/space_test.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace kasane::gravity {
namespace {

std::vector<Vec3<double>> samples_of(const std::vector<Vec3<double>>& all) {
    std::vector<Vec3<double>> sampled;
    for (int k = 0; k < frame_samples; ++k)
        sampled.push_back(all[static_cast<std::size_t>(frame_sample(k, static_cast<index_t>(all.size())))]);
    return sampled;
}

TEST(DirectFrame, SamplesAreSpreadOverAll) {
    for (const index_t total : {1, 2, 31, 32, 33, 1000}) {
        EXPECT_EQ(frame_sample(0, total), 0);
        for (int k = 1; k < frame_samples; ++k) {
            const auto step = frame_sample(k, total) - frame_sample(k - 1, total);
            EXPECT_TRUE(step >= total / frame_samples && step <= total / frame_samples + 1);
        }
        EXPECT_LT(frame_sample(frame_samples - 1, total), total);
    }
}

TEST(DirectFrame, OriginIsNotMovedByAFewFarParticles) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::vector<Vec3<double>> x;
    for (int k = 0; k < frame_samples; ++k) x.push_back({100 + normal(random), -200 + normal(random), normal(random)});
    for (const std::size_t far : {1, 7, 20}) x[far] = {1e9, 1e9, -1e9};
    const auto frame = make_direct_frame(x, 2, 1000);
    // The median of 29 normal numbers and 3 at one end has moved by less than one sigma.
    EXPECT_NEAR(frame.origin.x, 100, 1);
    EXPECT_NEAR(frame.origin.y, -200, 1);
    EXPECT_NEAR(frame.origin.z, 0, 1);
    EXPECT_NEAR(frame.extent, 1e9 * std::sqrt(3.0), 1e3);
    EXPECT_EQ(frame.largest_mass, 2);
    EXPECT_EQ(frame.total, 1000);
    // The bounds of integers on a device are those of the other particles.
    const auto on_cuda = make_direct_frame(x, 2, 1000, true);
    EXPECT_EQ(on_cuda.origin, frame.origin);
    EXPECT_GT(on_cuda.extent, 1024);
    EXPECT_LT(on_cuda.extent, 3 * 1024);
    x[1] = x[7] = x[20] = x[2];
    EXPECT_EQ(make_direct_frame(x, 2, 1000, true).extent, make_direct_frame(x, 2, 1000).extent);
}

TEST(DirectFrame, MedianIsTheSeventeenthOf32) {
    std::vector<Vec3<double>> x;
    for (int k = 0; k < frame_samples; ++k) x.push_back({double(7 * k % 32), double(11 * k % 32), double(-(5 * k % 32))});
    const auto frame = make_direct_frame(x, 1, 32);
    EXPECT_EQ(frame.origin, (Vec3<double>{16, 16, -15}));
}

TEST(DirectFrame, LeavesOutNonFinitePositions) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    std::vector<Vec3<double>> x(frame_samples, {1, 2, 3});
    x[0] = {nan, 0, 0}, x[5] = {0, inf, 0}, x[9] = {4, 6, 3};
    const auto frame = make_direct_frame(x, 1, 100);
    EXPECT_EQ(frame.origin, (Vec3<double>{1, 2, 3}));
    EXPECT_EQ(frame.extent, 5);
    EXPECT_EQ(make_direct_frame(std::vector<Vec3<double>>(frame_samples, {nan, nan, nan}), 1, 100).origin, (Vec3<double>{0, 0, 0}));
}

/// The sums of magnitudes at a target, by the formula.
struct Sizes {
    double acceleration = 0, potential = 0;
};
Sizes sizes(const test::DirectProblem& of, std::size_t target) {
    Sizes all;
    for (std::size_t j = 0; j < of.source.size(); ++j) {
        const auto d = of.source[j] - of.target[target];
        const double r2 = dot(d, d) + of.softening * of.softening;
        if (j == target || r2 == 0) continue;
        all.acceleration += of.mass[j] * std::sqrt(dot(d, d)) / (r2 * std::sqrt(r2));
        all.potential += of.mass[j] / std::sqrt(r2);
    }
    return all;
}

TEST(DirectFrame, BoundsHold) {
    for (const double softening : {0.0, 1e-4, 0.3}) {
        const auto problem = test::make({257, 257, 0, softening});
        const auto frame = make_direct_frame(samples_of(problem.source), 1, 257);  // masses are below 1
        for (std::size_t i = 0; i < problem.target.size(); ++i) {
            EXPECT_LE(sizes(problem, i).acceleration, frame.acceleration_bound(softening));
            EXPECT_LE(sizes(problem, i).potential, frame.potential_bound(softening));
        }
    }
}

TEST(DirectFrame, SoftenedBoundsAreAttained) {
    // All other particles at the distance eps / sqrt 2, where the softened force is largest; then at the target's position.
    const double eps = 0.2, u = 1e-12;
    test::DirectProblem problem{{{0, 0, 0}}, {}, {}, {}, eps};
    problem.source.assign(50, {0, eps / std::sqrt(2.0), 0});
    problem.source[0] = {0, 0, 0};
    problem.mass.assign(50, 3.0);
    const auto frame = make_direct_frame(samples_of(problem.source), 3, 49);
    EXPECT_NEAR(frame.acceleration_bound(eps) / sizes(problem, 0).acceleration, 1, u);
    problem.source.assign(50, {0, 0, 0});
    EXPECT_NEAR(frame.potential_bound(eps) / sizes(problem, 0).potential, 1, u);
}

TEST(DirectFrame, BoundsAreNormalForAnyInput) {
    const std::vector<Vec3<double>> heap(frame_samples, {1, 1, 1});
    auto wide = heap;
    wide[3] = {1e300, 0, 0};
    for (const auto& places : {heap, wide, std::vector<Vec3<double>>{}})
        for (const double mass : {0.0, 1e-300, 1.0, 1e300})
            for (const double softening : {0.0, 1e-150, 1e150})
                for (const index_t total : {index_t{0}, index_t{1}, index_t{1} << 40}) {
                    const auto frame = make_direct_frame(places, mass, total);
                    for (const double bound : {frame.acceleration_bound(softening), frame.potential_bound(softening)}) {
                        EXPECT_GT(bound, 0);
                        EXPECT_TRUE(std::isnormal(bound));
                        const Bins<4> bins(bound);
                        for (const double shift : bins.shift) EXPECT_TRUE(std::isnormal(shift * 0x1p-52) && std::isfinite(4 * shift));
                    }
                }
}

class LargestMass : public OnEverySpace {};
KS_ON_EVERY_SPACE(LargestMass);

TEST_P(LargestMass, IsThatOfAllParticles) {
    std::visit(
        [&]<Space S>(S on) {
            Buffer<double, S> scratch;
            for (const std::size_t n : {1, 2, 4095, 4096, 4097, 100'000})
                for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
                    std::vector<double> mass(n, 1e-3);
                    mass[place] = 0.1 + static_cast<double>(n);
                    const auto there = to_space(on, mass);
                    EXPECT_EQ(largest_mass(on, there.view(), scratch), mass[place]) << n << ", " << place;
                }
        },
        space_);
}

}  // namespace
}  // namespace kasane::gravity
