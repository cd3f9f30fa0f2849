#include <kasane/core/math/random.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

using namespace kasane;

// Known answers of philox4x32 with 10 rounds, published with Random123 (kat_vectors): counter, key, result.
TEST(Random, Philox4x32KnownAnswers) {
    const auto zero = random_bits(0, 0, 0);
    EXPECT_EQ(zero.low, 0xe169c58d6627e8d5u);
    EXPECT_EQ(zero.high, 0x9b00dbd8bc57ac4cu);
    const auto ones = random_bits(~0ull, ~0ull, ~0ull);
    EXPECT_EQ(ones.low, 0x41c83b0e408f276du);
    EXPECT_EQ(ones.high, 0x6d5451fda20bc7c6u);
    // Digits of pi: counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0.
    const auto pi = random_bits(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u);
    EXPECT_EQ(pi.low, 0x94fdccebd16cfe09u);
    EXPECT_EQ(pi.high, 0x24126ea15001e420u);
}

TEST(Random, UnitIntervalIsOpen) {
    EXPECT_EQ(to_unit_interval(0), 0x1p-53);
    EXPECT_EQ(to_unit_interval(~0ull), 1 - 0x1p-53);
    EXPECT_LT(to_unit_interval(~0ull), 1);
}

TEST(Random, StreamUsesBothHalvesInOrder) {
    RandomStream stream(7, 9);
    for (std::uint64_t block = 0; block < 3; ++block) {
        const auto bits = random_bits(7, 9, block);
        EXPECT_EQ(stream.uniform(), to_unit_interval(bits.low));
        EXPECT_EQ(stream.uniform(), to_unit_interval(bits.high));
    }
}

TEST(Random, SeedAndStreamMatter) {
    EXPECT_NE(RandomStream(1, 0).uniform(), RandomStream(2, 0).uniform());
    EXPECT_NE(RandomStream(1, 0).uniform(), RandomStream(1, 1).uniform());
    EXPECT_NE(RandomStream(1ull << 32, 0).uniform(), RandomStream(0, 0).uniform());
    EXPECT_NE(RandomStream(0, 1ull << 32).uniform(), RandomStream(0, 0).uniform());
}

// First draws of neighbouring streams, as particles take them: uniform, uncorrelated between neighbours and between draws.
TEST(Random, NeighbouringStreamsAreUniformAndIndependent) {
    constexpr int n = 1 << 18, bins = 64;
    std::array<int, bins> count{};
    double mean = 0, square = 0, neighbours = 0, draws = 0, before = 0.5;
    for (int i = 0; i < n; ++i) {
        RandomStream stream(42, static_cast<std::uint64_t>(i));
        const double u = stream.uniform(), v = stream.uniform();
        ++count[static_cast<std::size_t>(u * bins)];
        mean += u;
        square += u * u;
        neighbours += (u - 0.5) * (before - 0.5);
        draws += (u - 0.5) * (v - 0.5);
        before = u;
    }
    // Five standard deviations each: a fixed seed fails never or always, and by chance one in a million would.
    const double five = 5 / std::sqrt(double{n});
    EXPECT_NEAR(mean / n, 1. / 2, five * std::sqrt(1. / 12));
    EXPECT_NEAR(square / n, 1. / 3, five * std::sqrt(4. / 45));
    EXPECT_NEAR(neighbours / n, 0, five / 12);
    EXPECT_NEAR(draws / n, 0, five / 12);
    double chi2 = 0;
    for (const int c : count) chi2 += (c - double{n} / bins) * (c - double{n} / bins) / (double{n} / bins);
    EXPECT_NEAR(chi2, bins - 1, 5 * std::sqrt(2. * (bins - 1)));
}
