#include <kasane/core/math/half.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kasane {
namespace {

/// By its definition: sign, 5 bits of exponent, 10 of the fraction.
double value_of(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

TEST(Half, EveryNumberIsItsDefinitionAndComesBack) {
    for (int bits = 0; bits < 1 << 16; ++bits) {
        if ((bits >> 10 & 31) == 31) continue;  // infinity, NaN
        const Half half{static_cast<std::uint16_t>(bits)};
        ASSERT_EQ(static_cast<double>(static_cast<float>(half)), value_of(half.bits)) << bits;
        ASSERT_EQ(to_half(static_cast<float>(half)).bits, bits);
    }
}

TEST(Half, RoundsToTheNearestAndHalfwayToTheEven) {
    for (int bits = 0; bits < 0x7BFF; ++bits) {
        const double here = value_of(static_cast<std::uint16_t>(bits)), next = value_of(static_cast<std::uint16_t>(bits + 1));
        const auto middle = static_cast<float>((here + next) / 2);  // exact
        for (const float sign : {1.f, -1.f}) {
            const int minus = sign < 0 ? 0x8000 : 0;
            ASSERT_EQ(to_half(sign * middle).bits, (bits % 2 == 0 ? bits : bits + 1) | minus);
            ASSERT_EQ(to_half(sign * std::nextafter(middle, 0.f)).bits, bits | minus);
            ASSERT_EQ(to_half(sign * std::nextafter(middle, 1e9f)).bits, (bits + 1) | minus);
        }
    }
    EXPECT_EQ(static_cast<float>(to_half(Half::largest)), Half::largest);
}

}  // namespace
}  // namespace kasane
