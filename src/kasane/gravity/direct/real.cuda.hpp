// The arithmetic of a pair in float and double, for the CUDA variants of direct summation.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/softening/pair.cuda.hpp>

namespace kasane::gravity::detail {

/// A packed particle: position relative to the frame's origin, and mass. 16 bytes in float: one vector load.
template <class Real>
struct alignas(sizeof(Real) == 4 ? 16 : 32) Body {
    Real x, y, z, m;
};

/// 1/r of a pair. With softening r2 > 0. Without it 1/r is 0 for two particles at one point, which exert no force on each other.
template <bool Softened, class Real>
__device__ Real inverse_distance(Real r2) {
    const Real rinv = reciprocal_sqrt(r2);
    if constexpr (Softened) return rinv;
    return r2 > Real(0) ? rinv : Real(0);
}

/// The factors of a pair with one softening for all.
template <PairSoftening form, class Real>
__device__ PairFactors<Real> common_pair(Real dx, Real dy, Real dz, Real eps2) {
    const Real rinv = inverse_distance < form == PairSoftening::common > (fma(dz, dz, fma(dy, dy, fma(dx, dx, eps2))));
    return {rinv * rinv * rinv, rinv};
}

}  // namespace kasane::gravity::detail
