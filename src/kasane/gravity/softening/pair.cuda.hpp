// The pair of two softenings (pair.body.hpp) in CUDA kernels, without divisions and square roots.
#pragma once

#include <kasane/gravity/softening/pair.body.hpp>

namespace kasane::gravity::detail {

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

/// Squared distances below this are those of one place: an unsoftened pair contributes nothing, and r^-3 stays finite.
template <class Real>
inline constexpr Real one_place2 = sizeof(Real) == 4 ? Real(1e-24) : Real(1e-200);

/// The factors of a pair with a softening for each particle (softening/pair.body.hpp), without divisions.
template <PairSoftening form, class Real>
__device__ PairFactors<Real> combined_pair(Real d2, Real eps2) {
    constexpr Real least = one_place2<Real>;
    if constexpr (form == PairSoftening::plummer) {
        const Real r2 = d2 + eps2;
        const Real over_r = r2 > least ? reciprocal_sqrt(r2) : Real(0);
        return {over_r * over_r * over_r, over_r};
    } else {
        const Real h2 = Real(spline_radius * spline_radius) * eps2;
        const bool apart = d2 > least;
        const Real over_r = apart ? reciprocal_sqrt(d2) : Real(0);
        if (d2 >= h2) return {over_r * over_r * over_r, over_r};
        const Real over_h = h2 > least ? reciprocal_sqrt(h2) : Real(0);
        const Real u = d2 * over_r * over_h, u2 = u * u;
        if (u < Real(0.5)) {
            const Real force = fma(u2, fma(Real(32), u, Real(-192. / 5)), Real(32. / 3));
            const Real potential = fma(-u2, fma(u2, fma(Real(32. / 5), u, Real(-48. / 5)), Real(16. / 3)), Real(14. / 5));
            return {force * (over_h * over_h * over_h), potential * over_h};
        }
        const Real v = fmax(Real(1) - u, Real(0)), v4 = v * v * (v * v);
        const Real inside = fma(-v4, fma(v, fma(Real(32. / 3), v, Real(-128. / 5)), Real(16)), Real(1));
        return {inside * (over_r * over_r * over_r), over_r * fma(-v4 * v, fma(Real(-32. / 15), v, Real(16. / 5)), Real(1))};
    }
}

}  // namespace kasane::gravity::detail
