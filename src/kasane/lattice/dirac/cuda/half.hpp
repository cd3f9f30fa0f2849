// Sixteen-bit numbers on a CUDA device, and their conversion in registers without conversion instructions, whose rate is an eighth of
// additions'. Invariants: of spinors, the stored word u stands for (u + 1/2 - 2^15) / (2^15 - 1/2) times the site's scale (its largest real
// number), so that complementing the 16 bits negates the number exactly: a sum is a difference with a complement, and a difference needs no
// zero point. Of links and clover terms u stands for the integer u - 2^15. u under the exponent of 2^23 is the float 2^23 + u.
#pragma once

#include <kasane/lattice/dirac/cuda/memory.hpp>
#include <kasane/lattice/dirac/half_units.hpp>

#include <cmath>

namespace kasane::lattice::device {

/// Two numbers share a word: the real part in its lower half, the imaginary part in its upper half.
template <std::uint32_t exponent>
KS_FN float lower_under(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(__byte_perm(word, exponent >> 16, 0x5410));
#else
    return std::bit_cast<float>((word & 0xFFFFu) | exponent);
#endif
}
template <std::uint32_t exponent>
KS_FN float upper_under(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(__byte_perm(word, exponent >> 16, 0x5432));
#else
    return std::bit_cast<float>((word >> 16) | exponent);
#endif
}
inline constexpr std::uint32_t exponent_of_2_23 = 0x4B000000u;  ///< 2^23 + u
inline constexpr std::uint32_t exponent_of_256 = 0x43800000u;   ///< 256 + u / 2^15

/// a b, rounded. The compiler does not merge it with an addition, so that a number that is loaded has the same bits in every kernel, as
/// in those of one and of several columns.
KS_FN float product(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

/// A pair of numbers in units: exact.
KS_FN Cx<float> spinor_pair(std::uint32_t word) {
    return {(lower_under<exponent_of_2_23>(word) - 8421376.0f) + 0.5f, (upper_under<exponent_of_2_23>(word) - 8421376.0f) + 0.5f};
}
/// a - b of pairs, in units: exact.
KS_FN Cx<float> difference(std::uint32_t a, std::uint32_t b) {
    return {lower_under<exponent_of_2_23>(a) - lower_under<exponent_of_2_23>(b),
            upper_under<exponent_of_2_23>(a) - upper_under<exponent_of_2_23>(b)};
}
/// Re a - Im b, Im a - Re b.
KS_FN Cx<float> crossed_difference(std::uint32_t a, std::uint32_t b) {
    return {lower_under<exponent_of_2_23>(a) - upper_under<exponent_of_2_23>(b),
            upper_under<exponent_of_2_23>(a) - lower_under<exponent_of_2_23>(b)};
}

/// The larger, or NaN where one is NaN, so that a field that is not finite stays so.
KS_FN float larger(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#else
    return a > b || a != a ? a : b;
#endif
}

KS_FN float magnitude(const Spinor<float>& p) {
    float largest[4] = {};
    for (int s = 0; s < 4; ++s)
        for (int a = 0; a < 3; ++a) largest[s] = larger(largest[s], larger(std::fabs(p.s[s].c[a].re), std::fabs(p.s[s].c[a].im)));
    return larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
}

/// floor(value to_units) + 2^15 in the lower bits: rounds down, because the decoded value is the middle of the unit.
KS_FN std::uint32_t spinor_word(float value, float to_units) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(__fmaf_rd(value, to_units, 8421376.0f));
#else
    const double units = std::floor(static_cast<double>(value) * to_units);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(units == units ? units : 0) + 32768);
#endif
}
KS_FN std::uint32_t spinor_word(Cx<float> z, float to_units) {
    const std::uint32_t re = spinor_word(z.re, to_units), im = spinor_word(z.im, to_units);
#if defined(__CUDA_ARCH__)
    return __byte_perm(re, im, 0x5410);
#else
    return (re & 0xFFFFu) | im << 16;
#endif
}
/// 32767.5 / scale; 0 where the scale is 0 or NaN (a NaN scale gives NaN when it is decoded).
KS_FN float units_of(float scale) {
#if defined(__CUDA_ARCH__)
    return scale > 1e-37f ? __fdividef(32767.5f, scale) : 0.0f;
#else
    return scale > 1e-37f ? 32767.5f / scale : 0.0f;
#endif
}

/// Integers of [-32767, 32767] in offset form.
KS_FN std::uint32_t integer_word(int lower, int upper) {
    return static_cast<std::uint32_t>(lower + 32768) | static_cast<std::uint32_t>(upper + 32768) << 16;
}

}  // namespace kasane::lattice::device
