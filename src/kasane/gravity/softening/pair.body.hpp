// The softened pair, host and device: factors of the force and the potential of a unit mass, in one place for all kernels in plain
// arithmetic (the SIMD kernels evaluate the same formulas on vectors).
//
// Spline [Springel 2005, eq. 4]: with u = r / h and v = 1 - u, the density (8 / pi h^3) (1 - 6 u^2 + 6 u^3) for u < 1/2, (8 / pi h^3) 2 v^3
// for 1/2 <= u < 1 and 0 beyond. Integrated twice:
//     u < 1/2:   a = m d / h^3 (32/3 + u^2 (32 u - 192/5)),              phi = -m / h (14/5 - u^2 (16/3 + u^2 (32/5 u - 48/5)))
//     u >= 1/2:  a = m d / r^3 (1 - v^4 (16 - 128/5 v + 32/3 v^2)),      phi = -m / r (1 - v^5 (16/5 - 32/15 v))
// The outer form counts from the Newtonian pair, because the polynomials in u cancel to a percent of their terms at u = 1 and would lose
// two digits of a float; with v = 0 for u >= 1 it holds at every distance.
#pragma once

#include <kasane/gravity/softening/softening.hpp>

#include <cmath>

namespace kasane::gravity::detail {

/// How a kernel reads softenings: a compile-time parameter, so that a run with one Plummer softening has its own instructions.
enum class PairSoftening {
    none,     ///< Plummer, one softening, which may be 0: coincident pairs are left out
    common,   ///< Plummer, one softening above 0
    plummer,  ///< Plummer, a softening for each particle, which may be 0
    spline,   ///< spline, a softening for each particle, which may be 0
};
constexpr bool own_softening(PairSoftening form) { return form == PairSoftening::plummer || form == PairSoftening::spline; }

/// a = m `force` d and phi = -m `potential`, with d from the target to the source.
template <class Real>
struct PairFactors {
    Real force, potential;
};

/// @param d2  squared distance   @param eps2  eps_ij^2, the sum of the two softening terms; 0 with d2 = 0 gives 0
template <class Real>
KS_FN PairFactors<Real> plummer_pair(Real d2, Real eps2) {
    const Real r2 = d2 + eps2;
    if (r2 == 0) return {0, 0};
    const Real over_r = 1 / std::sqrt(r2);
    return {over_r / r2, over_r};
}

template <class Real>
KS_FN PairFactors<Real> spline_pair(Real d2, Real eps2) {
    const Real h2 = static_cast<Real>(spline_radius * spline_radius) * eps2;
    if (d2 + h2 == 0) return {0, 0};
    if (4 * d2 < h2) {
        const Real over_h = 1 / std::sqrt(h2), u = std::sqrt(d2) * over_h, u2 = u * u;
        const Real force = Real(32. / 3) + u2 * (32 * u - Real(192. / 5));
        const Real potential = Real(14. / 5) - u2 * (Real(16. / 3) + u2 * (Real(32. / 5) * u - Real(48. / 5)));
        return {force * (over_h * over_h * over_h), potential * over_h};
    }
    const Real r = std::sqrt(d2), over_r = 1 / r;
    const Real v = d2 < h2 ? 1 - r / std::sqrt(h2) : Real(0), v2 = v * v, v4 = v2 * v2;
    const Real inside = 1 - v4 * (16 - v * (Real(128. / 5) - Real(32. / 3) * v));
    return {inside * (over_r * over_r * over_r), over_r * (1 - v4 * v * (Real(16. / 5) - Real(32. / 15) * v))};
}

template <PairSoftening form, class Real>
KS_FN PairFactors<Real> softened_pair(Real d2, Real eps2) {
    if constexpr (form == PairSoftening::spline)
        return spline_pair(d2, eps2);
    else
        return plummer_pair(d2, eps2);
}

}  // namespace kasane::gravity::detail
