// Space-filling curves: 63-bit keys of 21 levels, three bits a level, the coarsest first. In key order, on either curve, the
// particles of every cell of the octree are contiguous.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <initializer_list>

namespace kasane::gravity {

inline constexpr int key_levels = 21;

/// Level l (0: the root) has 8^l cells; two keys lie in one cell of level l if they agree after this shift to the right.
KS_FN int key_shift(int level) { return 3 * (key_levels - level); }

/// Grid index of a coordinate in [-1, 1); coordinates outside are mapped to the cells at the border.
KS_FN std::uint32_t grid_index(float x) {
    constexpr float half = static_cast<float>(1 << (key_levels - 1));
    const float scaled = (x + 1.f) * half;
    constexpr float last = static_cast<float>((1 << key_levels) - 1);
    return static_cast<std::uint32_t>(scaled < 0.f ? 0.f : scaled > last ? last : scaled);
}

/// Z order (Morton 1966): the bits of x, y and z alternate.   @param x, y, z  below 2^21
KS_FN std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const auto spread = [](std::uint64_t b) {  // two zeros between any two bits
        b = (b | b << 32) & 0x001f00000000ffffull;
        b = (b | b << 16) & 0x001f0000ff0000ffull;
        b = (b | b << 8) & 0x100f00f00f00f00full;
        b = (b | b << 4) & 0x10c30c30c30c30c3ull;
        return (b | b << 2) & 0x1249249249249249ull;
    };
    return spread(x) << 2 | spread(y) << 1 | spread(z);
}

namespace detail {

/// Hilbert's curve as an automaton: steps[state][6 bits of Z order] = the state two levels below << 6 | 6 bits of the key.
/// A state is an entry corner and an axis; formulas of Hamilton & Rau-Chaplin, Inf. Process. Lett. 105 (2008) 155, section 2.
struct HilbertSteps {
    std::uint16_t steps[24][64];
};

constexpr HilbertSteps hilbert_steps() {
    const auto rotate = [](unsigned b, unsigned by) { return (b << by | b >> (3 - by)) & 7u; };  // to the left, by 0, 1 or 2
    const auto gray = [](unsigned b) { return b ^ b >> 1; };
    HilbertSteps table{};
    for (unsigned state = 0; state < 24; ++state)
        for (unsigned cells = 0; cells < 64; ++cells) {
            unsigned entry = state / 3, axis = state % 3, digits = 0;
            for (const unsigned cell : {cells >> 3, cells & 7u}) {
                const unsigned turned = rotate(cell ^ entry, 2 - axis);
                const unsigned digit = turned ^ turned >> 1 ^ turned >> 2;
                const unsigned even = digit == 0 ? 0 : (digit - 1) & ~1u;  // its Gray code: the corner where the curve enters
                const unsigned along = digit == 0 ? 0 : digit % 2 ? digit : digit - 1;
                unsigned ones = 0;  // at the end of `along`: the axis of its Gray code's step
                while (along >> ones & 1u) ++ones;
                entry ^= rotate(gray(even), (axis + 1) % 3);
                axis = (axis + ones + 1) % 3;
                digits = digits << 3 | digit;
            }
            table.steps[state][cells] = static_cast<std::uint16_t>((3 * entry + axis) << 6 | digits);
        }
    return table;
}

}  // namespace detail

/// Peano-Hilbert order: cells that follow each other on the curve share a face.   @param x, y, z  below 2^21
KS_FN std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    static constexpr auto table = detail::hilbert_steps();
    const std::uint64_t cells = morton_key(x, y, z);
    std::uint64_t key = 0;
    unsigned state = 0;
    for (int shift = 60; shift >= 0; shift -= 6) {  // 22 levels: the first is always cell 0 and digit 0
        const unsigned step = table.steps[state][cells >> shift & 63u];
        key = key << 6 | (step & 63u);
        state = step >> 6;
    }
    return key;
}

}  // namespace kasane::gravity
