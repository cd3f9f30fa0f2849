// Floating point numbers of 16 bits (IEEE 754 binary16) for matrices that are kept in half of the memory; all arithmetic is in float.
// Host and device; the bits are the same on both.
#pragma once

#include <kasane/core/base/types.hpp>

#include <bit>
#include <cstdint>

namespace kasane {

struct Half {
    static constexpr float largest = 65504;

    std::uint16_t bits;

    /// Converts exactly; for infinity and NaN the value is not specified.
    KS_FN explicit operator float() const {
#if defined(__CUDA_ARCH__)
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
#else
        const auto size = std::bit_cast<float>((bits & 0x7FFFu) << 13) * 0x1p112f;  // the exponent's bias is 15 in place of 127
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | (bits & 0x8000u) << 16);
#endif
    }
};

/// Rounds to the nearest number, ties to even. @param x  of at most Half::largest
KS_FN Half to_half(float x) {
    Half half;
#if defined(__CUDA_ARCH__)
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
#else
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto size = std::bit_cast<float>(bits & 0x7FFFFFFFu);
    // 2^-14 is the least normal number; below, adding 1/2 leaves the multiple of 2^-24 in the last bits.
    std::uint32_t rounded;
    if (size < 0x1p-14f) {
        rounded = std::bit_cast<std::uint32_t>(size + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
    } else {
        const std::uint32_t scaled = std::bit_cast<std::uint32_t>(size) - (112u << 23);
        rounded = (scaled + 0xFFFu + (scaled >> 13 & 1u)) >> 13;
    }
    half.bits = static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000u));
#endif
    return half;
}

}  // namespace kasane
