// wilson.body.hpp for single numbers, host and device: float and double.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::lattice {

#define KS_SITE KS_FN
template <class T>
KS_FN T MulAdd(T a, T b, T c) {
    return a * b + c;
}
template <class T>
KS_FN T NegMulAdd(T a, T b, T c) {
    return c - a * b;
}
template <class T>
KS_FN T Reciprocal(T a) {
    return T(1) / a;
}
/// 1 / a to an ulp, in one instruction on a device (a division takes a dozen instructions and a branch).
KS_FN float Reciprocal(float a) {
#if defined(__CUDA_ARCH__)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
#else
    return 1.0f / a;
#endif
}
#include <kasane/lattice/dirac/wilson.body.hpp>
#undef KS_SITE

}  // namespace kasane::lattice
