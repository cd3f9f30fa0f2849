// Four numbers that are neighbours in memory, read by as few instructions as a device allows.
#pragma once

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

/// A floating point number of 16 bits.
struct Half {
    std::uint16_t bits;
};
__device__ inline Half to_half(float x) {
    Half half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
    return half;
}
/// @param from  on a boundary of 8 bytes
__device__ inline Four<float> load_four(const Half* from) {
    struct alignas(8) Words {
        std::uint32_t of[2];
    };
    const auto words = *reinterpret_cast<const Words*>(from);
    Four<float> four;
    for (int k = 0; k < 2; ++k)
        asm("{.reg .b16 lower, upper; mov.b32 {lower, upper}, %2; cvt.f32.f16 %0, lower; cvt.f32.f16 %1, upper;}"
            : "=f"(four.v[2 * k]), "=f"(four.v[2 * k + 1])
            : "r"(words.of[k]));
    return four;
}

}  // namespace kasane::lattice::coherent
