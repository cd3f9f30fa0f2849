// Random deviates of the heatbath from 32-bit words in single precision, host and device.
// Invariant: the bits are the same everywhere, for a trial must not be accepted on one device and rejected on another. So products and sums
// are rounded one by one (a host compiler fuses them only with flags for one processor, -march=native for example).
#pragma once

#include <kasane/core/base/types.hpp>

#include <bit>
#include <cstdint>

namespace kasane::lattice {

/// a x + b, rounded twice.
KS_FN float product_sum(float a, float x, float b) {
#if defined(__CUDA_ARCH__)
    return __fadd_rn(__fmul_rn(a, x), b);
#else
    return a * x + b;
#endif
}

/// c_0 + c_1 x + c_2 x^2 + …
template <int N>
KS_FN float polynomial(const float (&c)[N], float x) {
    float sum = c[N - 1];
    for (int k = N - 2; k >= 0; --k) sum = product_sum(sum, x, c[k]);
    return sum;
}

/// Uniform in (0, 1): the odd multiples of 2^-33.
KS_FN double unit_interval(std::uint32_t bits) { return (bits + 0.5) * 0x1p-32; }

/// Uniform in [-1, 1]. Relative error below 6e-8.
KS_FN float signed_unit(std::uint32_t bits) { return static_cast<float>(std::bit_cast<std::int32_t>(bits)) * 0x1p-31f; }

/// An exponential deviate, -log u with u = bits / 2^32; at most 22.2. Relative error below 2e-7.
KS_FN float exponential_deviate(std::uint32_t bits) {
    // u 2^32 = 2^e (1 + f), 1 + f from 2^-1/2 to 2^1/2; log(1 + f) / f by a polynomial of degree 8 with an error of 3.4e-8 (Chebyshev fit)
    const auto image = std::bit_cast<std::int32_t>(static_cast<float>(bits | 1));
    const std::int32_t e = (image - 0x3f3504f3) >> 23;
    const float f = std::bit_cast<float>(image - (e << 23)) - 1;
    constexpr float c[] = {1.f, -0.49999997f, 0.33334193f, -0.25001353f, 0.19955933f, -0.16577993f, 0.14977401f, -0.14269258f, 0.08533313f};
    return product_sum(static_cast<float>(32 - e), 0.6931472f, -f * polynomial(c, f));
}

/// cos^2 of an angle with equal probability everywhere: sin^2(pi u / 2), u = bits / 2^32. Relative error below 3e-7.
KS_FN float squared_cosine(std::uint32_t bits) {
    const float u = static_cast<float>(bits) * 0x1p-32f;
    constexpr float c[] = {1.5707964f, -0.6459638f, 0.07968992f, -0.0046741436f, 0.0001516717f};
    const float sine = u * polynomial(c, u * u);
    return sine * sine;
}

/// A point of the unit circle, up to 2e-7 of its radius.
struct CirclePoint {
    float cosine, sine;
};
/// All angles with equal probability.
KS_FN CirclePoint circle_point(std::uint32_t bits) {
    // a quarter by the first two bits, and within it the angle pi v / 2 with -1/2 <= v <= 1/2 by the others
    const float v = static_cast<float>(std::bit_cast<std::int32_t>(bits << 2)) * 0x1p-32f, v2 = v * v;
    constexpr float s[] = {1.5707964f, -0.6459635f, 0.07968022f, -0.0046021491f};
    constexpr float c[] = {1.f, -1.2337005f, 0.25366941f, -0.020861529f, 0.00090673991f};
    const float sine = v * polynomial(s, v2), cosine = polynomial(c, v2);
    switch (bits >> 30) {
        case 0: return {cosine, sine};
        case 1: return {-sine, cosine};
        case 2: return {-cosine, -sine};
        default: return {sine, -cosine};
    }
}

}  // namespace kasane::lattice
