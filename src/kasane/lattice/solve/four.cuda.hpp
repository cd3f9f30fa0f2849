// Four numbers that are neighbours in memory, read by as few instructions as a device allows.
#pragma once

#include <kasane/core/math/half.hpp>

#include <cstdint>

namespace kasane::lattice::coherent {

template <class T>
struct alignas(16) Four {
    T v[4];
};

/// @param from  on a boundary of 16 bytes
template <class T>
__device__ inline Four<T> load_four(const T* from) {
    return *reinterpret_cast<const Four<T>*>(from);
}

/// Numbers that a thread reads of a matrix at once: 16 bytes, or more.
template <class H>
inline constexpr int read_at_once = 4;
template <>
inline constexpr int read_at_once<Half> = 8;

/// @param from  on a boundary of 16 bytes
template <class T>
__device__ inline void read_numbers(const T* from, T (&to)[4]) {
    const auto four = load_four(from);
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = four.v[k];
}
__device__ inline void read_numbers(const Half* from, float (&to)[8]) {
    const auto words = *reinterpret_cast<const Four<std::uint32_t>*>(from);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        asm("{.reg .b16 lower, upper; mov.b32 {lower, upper}, %2; cvt.f32.f16 %0, lower; cvt.f32.f16 %1, upper;}"
            : "=f"(to[2 * k]), "=f"(to[2 * k + 1])
            : "r"(words.v[k]));
}

}  // namespace kasane::lattice::coherent
