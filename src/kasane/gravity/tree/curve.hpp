// Space-filling curves: 63-bit keys of 21 levels, three bits a level, the coarsest first. Particles in key order fill every cell of
// the octree contiguously, on either curve.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstdint>

namespace kasane::gravity {

inline constexpr int key_levels = 21;

/// Level l (0: the root) has cells of 8^l; two keys lie in one cell of level l when they agree after this shift.
KS_FN int key_shift(int level) { return 3 * (key_levels - level); }

/// Grid index of a coordinate of [-1, 1); what lies outside goes to the cell at the border.
KS_FN std::uint32_t grid_index(float x) {
    constexpr float half = static_cast<float>(1 << (key_levels - 1));
    const float scaled = (x + 1.f) * half;
    constexpr float last = static_cast<float>((1 << key_levels) - 1);
    return static_cast<std::uint32_t>(scaled < 0.f ? 0.f : scaled > last ? last : scaled);
}

/// Z order (Morton 1966): the bits of x, y, z in turn.   @param x, y, z  below 2^21
std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z);
/// Peano-Hilbert order: neighbours along it are neighbours in space.   @param x, y, z  below 2^21
std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y, std::uint32_t z);

}  // namespace kasane::gravity
