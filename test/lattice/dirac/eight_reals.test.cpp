// Links in eight reals: the round trip of random, unit, diagonal and extreme matrices, and the growth of errors of the numbers.
#include <kasane/core/math/random.hpp>
#include <kasane/lattice/dirac/eight_reals.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <vector>

namespace kasane::lattice {
namespace {

Su3<double> random_link(RandomStream& random) {
    Su3<double> u;
    for (auto& row : u.e)
        for (auto& z : row) z = {2 * random.uniform() - 1, 2 * random.uniform() - 1};
    return reunitarised(u);
}

Su3<double> diagonal(double a, double b) {
    auto u = Su3<double>::zero();
    const double angle[3] = {a, b, -a - b};
    for (int i = 0; i < 3; ++i) u.e[i][i] = {std::cos(angle[i]), std::sin(angle[i])};
    return u;
}

/// exp of a random element of the algebra of about this size.
Su3<double> near_unit(RandomStream& random, double size) {
    Su3<double> a;
    for (auto& row : a.e)
        for (auto& z : row) z = {size * (random.uniform() - 0.5), size * (random.uniform() - 0.5)};
    return exponential(traceless_antihermitian(a));
}

/// Rows permuted by signed permutations of determinant 1 reach every axis, hence both poles of both spheres.
std::vector<Su3<double>> signed_permutations() {
    std::vector<Su3<double>> all;
    int order[3] = {0, 1, 2};
    do
        for (int signs = 0; signs < 8; ++signs) {
            auto u = Su3<double>::zero();
            for (int i = 0; i < 3; ++i) u.e[i][order[i]].re = signs >> i & 1 ? -1 : 1;
            if (determinant(u).re > 0) all.push_back(u);
        }
    while (std::next_permutation(order, order + 3));
    return all;
}

std::vector<Su3<double>> links() {
    RandomStream random(5, 1);
    auto all = signed_permutations();
    for (int i = 0; i < 2000; ++i) all.push_back(random_link(random));
    for (int i = 0; i < 100; ++i) all.push_back(diagonal(2 * std::numbers::pi * random.uniform(), 2 * std::numbers::pi * random.uniform()));
    for (const double size : {1e-12, 1e-8, 1e-4, 1e-2, 0.3}) {
        const auto axes = signed_permutations();
        for (int i = 0; i < 48; ++i) all.push_back(near_unit(random, size) * axes[static_cast<std::size_t>(i) % axes.size()]);
    }
    return all;
}

template <class T>
double distance(const Link<T>& a, const Su3<double>& b) {
    double worst = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = std::max({worst, std::abs(a.e[i][j].re - b.e[i][j].re), std::abs(a.e[i][j].im - b.e[i][j].im)});
    return worst;
}

template <class T>
Link<T> through_memory(const EightReals& e) {
    T r[8];
    for (int i = 0; i < 8; ++i) r[i] = static_cast<T>(e.r[i]);
    r[first_sign_in] = with_lowest_bit(r[first_sign_in], e.first_negative);
    r[second_sign_in] = with_lowest_bit(r[second_sign_in], e.second_negative);
    return link_of_eight(r, sign_of_lowest_bit(r[first_sign_in]), sign_of_lowest_bit(r[second_sign_in]), T(1));
}

Link<float> through_16_bits(const EightReals& e) {
    float r[8];
    bool negative[8] = {};
    for (int i = 0; i < 8; ++i) {
        const double value = 32767 * e.r[i];
        auto stored = static_cast<std::int16_t>(std::lrint(value));
        if (i == first_sign_in) stored = int16_with_lowest_bit(value, e.first_negative);
        if (i == second_sign_in) stored = int16_with_lowest_bit(value, e.second_negative);
        negative[i] = stored & 1;
        r[i] = static_cast<float>(stored) / 32767;
    }
    return link_of_eight(r, negative[first_sign_in] ? -1.f : 1.f, negative[second_sign_in] ? -1.f : 1.f, 1.f);
}

TEST(EightReals, AreInTheUnitInterval) {
    for (const auto& u : links())
        for (const double r : eight_reals_of(u).r) EXPECT_LE(std::abs(r), 1 + 1e-15);
}

// Numbers of at most 1 have errors of an ulp (half of it by rounding, half by the bit); the map enlarges them by 4 at most (its head), and
// its own arithmetic adds a few ulp. The links above have errors of their own rounding, 1e-15.
TEST(EightReals, RoundTripToRounding) {
    for (const auto& u : links()) {
        EXPECT_LT(distance(through_memory<double>(eight_reals_of(u)), u), 4e-15);
        EXPECT_LT(distance(through_memory<float>(eight_reals_of(u)), u), 16 * 6e-8);
    }
}

// 16 bits: errors of half a unit, and of one unit for the two numbers that hold a bit; times 4.
TEST(EightReals, SixteenBitsAreAsGoodEverywhere) {
    for (const auto& u : links()) EXPECT_LT(distance(through_16_bits(eight_reals_of(u)), u), 4. / 32767);
}

TEST(EightReals, UnitLinkIsExact) {
    const auto e = eight_reals_of(Su3<double>::unit());
    for (const double r : e.r) EXPECT_EQ(r, 0);
    EXPECT_EQ(distance(through_memory<double>(e), Su3<double>::unit()), 0);
    EXPECT_EQ(distance(through_memory<float>(e), Su3<double>::unit()), 0);
    EXPECT_EQ(distance(through_16_bits(e), Su3<double>::unit()), 0);
}

TEST(EightReals, ResultIsUnitary) {
    for (const auto& u : links()) {
        const auto link = through_memory<double>(eight_reals_of(u));
        Su3<double> v;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) v.e[i][j] = {link.e[i][j].re, link.e[i][j].im};
        EXPECT_LT(distance_from_su3(v), 4e-15);
    }
}

}  // namespace
}  // namespace kasane::lattice
