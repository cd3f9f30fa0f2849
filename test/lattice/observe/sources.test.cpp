#include <kasane/core/base/error.hpp>
#include <kasane/lattice/observe/sources.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <omp.h>

namespace kasane::lattice {
namespace {

const Extents extents{4, 2, 6, 8};

TEST(Sources, PointAndWallAreAtTheirSites) {
    const auto point = point_source(extents, {{3, 1, 5, 7}}, 2, 1);
    const auto wall = wall_source(extents, 6, 3, 0);
    for (index_t i = 0; i < extents.volume(); ++i)
        for (int spin = 0; spin < 4; ++spin)
            for (int colour = 0; colour < 3; ++colour) {
                const Site x = extents.site(i);
                const bool at_point = x[0] == 3 && x[1] == 1 && x[2] == 5 && x[3] == 7 && spin == 2 && colour == 1;
                EXPECT_EQ(point.at(i, spin, colour), at_point ? 1. : 0.);
                EXPECT_EQ(wall.at(i, spin, colour), x[3] == 6 && spin == 3 && colour == 0 ? 1. : 0.);
            }
}

TEST(Sources, OutsideTheLatticeAreRefused) {
    for (const Site& site : {Site{{4, 0, 0, 0}}, Site{{0, -1, 0, 0}}, Site{{0, 0, 6, 0}}, Site{{0, 0, 0, 8}}})
        EXPECT_THROW(point_source(extents, site, 0, 0), LogicError);
    for (const auto& [spin, colour] : {std::pair{-1, 0}, {4, 0}, {0, -1}, {0, 3}}) {
        EXPECT_THROW(point_source(extents, {{0, 0, 0, 0}}, spin, colour), LogicError);
        EXPECT_THROW(wall_source(extents, 0, spin, colour), LogicError);
    }
    for (const int t : {-1, 8}) EXPECT_THROW(wall_source(extents, t, 0, 0), LogicError);
    SpinorField field(extents);
    EXPECT_THROW((PropagatorSource{{{0, 0, 0, 8}}, true}.fill(0, field)), LogicError);
    EXPECT_THROW((PropagatorSource{{{0, 2, 0, 0}}}.fill(0, field)), LogicError);
    EXPECT_THROW(PropagatorSource{}.fill(12, field), LogicError);
}

TEST(Sources, PropagatorsHaveTwelveOfOneKind) {
    SpinorField field(extents);
    for (int c = 0; c < 12; ++c) {
        const PropagatorSource point{{{3, 1, 5, 7}}}, wall{{{0, 0, 0, 6}}, true};
        point.fill(c, field);
        EXPECT_EQ(field.values, point_source(extents, {{3, 1, 5, 7}}, c / 3, c % 3).values);
        wall.fill(c, field);
        EXPECT_EQ(field.values, wall_source(extents, 6, c / 3, c % 3).values);
        for (index_t i = 0; i < extents.volume(); ++i) {
            EXPECT_EQ(wall.contains(extents.site(i)), field.at(i, c / 3, c % 3) == 1.);
            EXPECT_EQ(point.contains(extents.site(i)), i == extents.lexicographic({{3, 1, 5, 7}}));
        }
    }
}

TEST(Sources, NoiseDependsOnSeedAndSiteAlone) {
    for (const auto noise : {Noise::gaussian, Noise::z2}) {
        const int threads = omp_get_max_threads();
        omp_set_num_threads(1);
        const auto one = random_source(extents, 11, noise);
        omp_set_num_threads(3);
        EXPECT_EQ(random_source(extents, 11, noise).values, one.values);
        omp_set_num_threads(threads);
        EXPECT_NE(random_source(extents, 12, noise).values, one.values);
    }
}

TEST(Sources, NoiseHasItsMoments) {
    const Extents large{8, 8, 8, 8};
    const double n = 12. * 4096, error = 5 / std::sqrt(n);  // five standard deviations of a mean of numbers with variance 1
    const auto gaussian = random_source(large, 3);
    std::complex<double> mean = 0, square = 0;
    double norm = 0, fourth = 0;
    for (const auto value : gaussian.values) {
        mean += value / n;
        square += value * value / n;
        norm += std::norm(value) / n;
        fourth += std::norm(value) * std::norm(value) / n;
    }
    EXPECT_LT(std::abs(mean), error);
    EXPECT_LT(std::abs(square), std::sqrt(2.) * error);
    EXPECT_NEAR(norm, 1, error);
    EXPECT_NEAR(fourth, 2, std::sqrt(20.) * error);  // <x^4> - <x^2>^2 of an exponential's x = |eta|^2: 24 - 4
    double sum = 0;
    for (const auto value : random_source(large, 3, Noise::z2).values) {
        EXPECT_TRUE(value == 1. || value == -1.);
        sum += value.real() / n;
    }
    EXPECT_LT(std::abs(sum), error);
}

}  // namespace
}  // namespace kasane::lattice
