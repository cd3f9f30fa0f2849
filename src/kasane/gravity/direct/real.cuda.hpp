// The arithmetic of a pair in float and double, for the CUDA variants of direct summation.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::gravity::detail {

/// A packed particle: position relative to the frame's origin, and mass. 16 bytes in float: one vector load.
template <class Real>
struct alignas(sizeof(Real) == 4 ? 16 : 32) Body {
    Real x, y, z, m;
};

/// 1/sqrt(x) for normal x > 0: one special-function instruction, largest relative error 2^-22.9. The library's rsqrtf has three
/// more instructions for denormal arguments, which do not occur with softening.
__device__ inline float reciprocal_sqrt(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// The same in double: the special-function unit's estimate (about 2^-20) and one third-order step, error below 2^-51.
__device__ inline double reciprocal_sqrt(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double h = fma(-x, y * y, 1.0);
    return fma(y * h, fma(0.375, h, 0.5), y);
}

/// 1/r of a pair. With softening r2 > 0. Without it 1/r is 0 for two particles at one point, which exert no force on each other.
template <bool Softened, class Real>
__device__ Real inverse_distance(Real r2) {
    const Real rinv = reciprocal_sqrt(r2);
    if constexpr (Softened) return rinv;
    return r2 > Real(0) ? rinv : Real(0);
}

}  // namespace kasane::gravity::detail
