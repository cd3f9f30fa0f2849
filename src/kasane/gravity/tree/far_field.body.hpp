// The field of cells that are far from a whole group of targets, as one Taylor series about the group's centre: third order in the
// acceleration, fourth in the potential. A cell is added once for the group and not once for each target, which is what makes
// groups cheap: about 90 operations instead of 12 for every target.
// Invariants: plain arithmetic on V, a float, a double or a SIMD vector of them (each lane then sums cells of its own); sums are
// linear, so that partial series may be added. Softening is exact: nothing assumes that traces vanish.
//
// With X = centre - cell and rho^2 = X^2 + eps^2, the potential of a unit mass at centre + y is -1/sqrt((X + y)^2 + eps^2)
//   = -[ g0 - g1 Xy + (g2 (Xy)^2 - g1 y^2)/2 - (g3 (Xy)^3 - 3 g2 Xy y^2)/6 + (g4 (Xy)^4 - 6 g3 (Xy)^2 y^2 + 3 g2 y^4)/24 + ... ]
// with g0 = 1/rho and g_{k+1} = (2k + 1) g_k / rho^2: sums of m g_k times powers of X are all that is kept.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::gravity {

template <class V>
struct FarField {
    static constexpr int count = 46;
    V s0;                         ///< sum m g0
    V s1, s1x, s1y, s1z;          ///< sum m g1 {1, X}
    V s2, s2x, s2y, s2z;          ///< sum m g2 {1, X}
    V s2xx, s2xy, s2xz, s2yy, s2yz, s2zz;
    V s3xx, s3xy, s3xz, s3yy, s3yz, s3zz;  ///< sum m g3 XX
    V s3xxx, s3xxy, s3xxz, s3xyy, s3xyz, s3xzz, s3yyy, s3yyz, s3yzz, s3zzz;
    V s4xxxx, s4xxxy, s4xxxz, s4xxyy, s4xxyz, s4xxzz, s4xyyy, s4xyyz, s4xyzz, s4xzzz, s4yyyy, s4yyyz, s4yyzz, s4yzzz, s4zzzz;
};

/// Every sum to `zero`.
template <class V>
KS_FN void clear(FarField<V>& f, V zero) {
    f.s0 = zero;
    f.s1 = f.s1x = f.s1y = f.s1z = zero;
    f.s2 = f.s2x = f.s2y = f.s2z = zero;
    f.s2xx = f.s2xy = f.s2xz = f.s2yy = f.s2yz = f.s2zz = zero;
    f.s3xx = f.s3xy = f.s3xz = f.s3yy = f.s3yz = f.s3zz = zero;
    f.s3xxx = f.s3xxy = f.s3xxz = f.s3xyy = f.s3xyz = f.s3xzz = f.s3yyy = f.s3yyz = f.s3yzz = f.s3zzz = zero;
    f.s4xxxx = f.s4xxxy = f.s4xxxz = f.s4xxyy = f.s4xxyz = f.s4xxzz = f.s4xyyy = f.s4xyyz = f.s4xyzz = f.s4xzzz = zero;
    f.s4yyyy = f.s4yyyz = f.s4yyzz = f.s4yzzz = f.s4zzzz = zero;
}

/// Adds a mass.   @param x, y, z  centre of the group minus the mass's position   @param over_rho  1/sqrt(x^2 + y^2 + z^2 + eps^2)
/// @param three, five, seven  these numbers, as V
template <class V>
KS_FN void add(FarField<V>& f, V x, V y, V z, V m, V over_rho, V three, V five, V seven) {
    const V over_rho2 = over_rho * over_rho;
    const V m0 = m * over_rho;
    f.s0 = f.s0 + m0;
    const V m1 = m0 * over_rho2;
    f.s1 = f.s1 + m1;
    f.s1x = m1 * x + f.s1x;
    f.s1y = m1 * y + f.s1y;
    f.s1z = m1 * z + f.s1z;
    const V m2 = three * m1 * over_rho2;
    {
        const V mx = m2 * x, my = m2 * y, mz = m2 * z;
        f.s2 = f.s2 + m2;
        f.s2x = f.s2x + mx;
        f.s2y = f.s2y + my;
        f.s2z = f.s2z + mz;
        f.s2xx = mx * x + f.s2xx;
        f.s2xy = mx * y + f.s2xy;
        f.s2xz = mx * z + f.s2xz;
        f.s2yy = my * y + f.s2yy;
        f.s2yz = my * z + f.s2yz;
        f.s2zz = mz * z + f.s2zz;
    }
    const V m3 = five * m2 * over_rho2;
    {
        const V mx = m3 * x, my = m3 * y, mz = m3 * z;
        const V xx = mx * x, xy = mx * y, xz = mx * z, yy = my * y, yz = my * z, zz = mz * z;
        f.s3xx = f.s3xx + xx;
        f.s3xy = f.s3xy + xy;
        f.s3xz = f.s3xz + xz;
        f.s3yy = f.s3yy + yy;
        f.s3yz = f.s3yz + yz;
        f.s3zz = f.s3zz + zz;
        f.s3xxx = xx * x + f.s3xxx;
        f.s3xxy = xx * y + f.s3xxy;
        f.s3xxz = xx * z + f.s3xxz;
        f.s3xyy = xy * y + f.s3xyy;
        f.s3xyz = xy * z + f.s3xyz;
        f.s3xzz = xz * z + f.s3xzz;
        f.s3yyy = yy * y + f.s3yyy;
        f.s3yyz = yy * z + f.s3yyz;
        f.s3yzz = yz * z + f.s3yzz;
        f.s3zzz = zz * z + f.s3zzz;
    }
    const V m4 = seven * m3 * over_rho2;
    const V xx = x * x, xy = x * y, xz = x * z, yy = y * y, yz = y * z, zz = z * z;
    const V mxx = m4 * xx, mxy = m4 * xy, mxz = m4 * xz, myy = m4 * yy, myz = m4 * yz, mzz = m4 * zz;
    f.s4xxxx = mxx * xx + f.s4xxxx;
    f.s4xxxy = mxx * xy + f.s4xxxy;
    f.s4xxxz = mxx * xz + f.s4xxxz;
    f.s4xxyy = mxx * yy + f.s4xxyy;
    f.s4xxyz = mxx * yz + f.s4xxyz;
    f.s4xxzz = mxx * zz + f.s4xxzz;
    f.s4xyyy = mxy * yy + f.s4xyyy;
    f.s4xyyz = mxy * yz + f.s4xyyz;
    f.s4xyzz = mxy * zz + f.s4xyzz;
    f.s4xzzz = mxz * zz + f.s4xzzz;
    f.s4yyyy = myy * yy + f.s4yyyy;
    f.s4yyyz = myy * yz + f.s4yyyz;
    f.s4yyzz = myy * zz + f.s4yyzz;
    f.s4yzzz = myz * zz + f.s4yzzz;
    f.s4zzzz = mzz * zz + f.s4zzzz;
}

/// Adds the acceleration (G = 1) at centre + (x, y, z).
template <class Real>
KS_FN void add_acceleration(const FarField<Real>& f, Real x, Real y, Real z, Real& ax, Real& ay, Real& az) {
    const Real half = Real(0.5), sixth = Real(1. / 6);
    const Real r2 = x * x + y * y + z * z;
    // second order: symmetric matrices with y
    const Real qx = f.s2xx * x + f.s2xy * y + f.s2xz * z;
    const Real qy = f.s2xy * x + f.s2yy * y + f.s2yz * z;
    const Real qz = f.s2xz * x + f.s2yz * y + f.s2zz * z;
    const Real tx = f.s3xx * x + f.s3xy * y + f.s3xz * z;
    const Real ty = f.s3xy * x + f.s3yy * y + f.s3yz * z;
    const Real tz = f.s3xz * x + f.s3yz * y + f.s3zz * z;
    const Real lin = f.s2x * x + f.s2y * y + f.s2z * z;
    const Real quad = tx * x + ty * y + tz * z;
    const Real xx = x * x, xy2 = 2 * x * y, xz2 = 2 * x * z, yy = y * y, yz2 = 2 * y * z, zz = z * z;
    const Real cx = f.s3xxx * xx + f.s3xxy * xy2 + f.s3xxz * xz2 + f.s3xyy * yy + f.s3xyz * yz2 + f.s3xzz * zz;
    const Real cy = f.s3xxy * xx + f.s3xyy * xy2 + f.s3xyz * xz2 + f.s3yyy * yy + f.s3yyz * yz2 + f.s3yzz * zz;
    const Real cz = f.s3xxz * xx + f.s3xyz * xy2 + f.s3xzz * xz2 + f.s3yyz * yy + f.s3yzz * yz2 + f.s3zzz * zz;
    // fourth: contracted twice to a symmetric matrix, then once
    const Real dxx = f.s4xxxx * xx + f.s4xxxy * xy2 + f.s4xxxz * xz2 + f.s4xxyy * yy + f.s4xxyz * yz2 + f.s4xxzz * zz;
    const Real dxy = f.s4xxxy * xx + f.s4xxyy * xy2 + f.s4xxyz * xz2 + f.s4xyyy * yy + f.s4xyyz * yz2 + f.s4xyzz * zz;
    const Real dxz = f.s4xxxz * xx + f.s4xxyz * xy2 + f.s4xxzz * xz2 + f.s4xyyz * yy + f.s4xyzz * yz2 + f.s4xzzz * zz;
    const Real dyy = f.s4xxyy * xx + f.s4xyyy * xy2 + f.s4xyyz * xz2 + f.s4yyyy * yy + f.s4yyyz * yz2 + f.s4yyzz * zz;
    const Real dyz = f.s4xxyz * xx + f.s4xyyz * xy2 + f.s4xyzz * xz2 + f.s4yyyz * yy + f.s4yyzz * yz2 + f.s4yzzz * zz;
    const Real dzz = f.s4xxzz * xx + f.s4xyzz * xy2 + f.s4xzzz * xz2 + f.s4yyzz * yy + f.s4yzzz * yz2 + f.s4zzzz * zz;
    const Real ex = dxx * x + dxy * y + dxz * z, ey = dxy * x + dyy * y + dyz * z, ez = dxz * x + dyz * y + dzz * z;
    const Real along = lin - f.s1 + half * (f.s2 * r2 - quad);
    ax += -f.s1x + qx + along * x + half * (r2 * (f.s2x - tx) - cx) + sixth * ex;
    ay += -f.s1y + qy + along * y + half * (r2 * (f.s2y - ty) - cy) + sixth * ey;
    az += -f.s1z + qz + along * z + half * (r2 * (f.s2z - tz) - cz) + sixth * ez;
}

/// The potential (G = 1, negative) at centre + (x, y, z).
template <class Real>
KS_FN Real potential(const FarField<Real>& f, Real x, Real y, Real z) {
    const Real r2 = x * x + y * y + z * z;
    const Real xx = x * x, xy = 2 * x * y, xz = 2 * x * z, yy = y * y, yz = 2 * y * z, zz = z * z;
    const Real q = f.s2xx * xx + f.s2xy * xy + f.s2xz * xz + f.s2yy * yy + f.s2yz * yz + f.s2zz * zz;
    const Real t = f.s3xx * xx + f.s3xy * xy + f.s3xz * xz + f.s3yy * yy + f.s3yz * yz + f.s3zz * zz;
    const Real lin = f.s2x * x + f.s2y * y + f.s2z * z;
    const Real c = (f.s3xxx * x + 3 * (f.s3xxy * y + f.s3xxz * z)) * xx + (f.s3yyy * y + 3 * (f.s3xyy * x + f.s3yyz * z)) * yy +
                   (f.s3zzz * z + 3 * (f.s3xzz * x + f.s3yzz * y)) * zz + 3 * f.s3xyz * xy * z;
    const Real d = (f.s4xxxx * xx + 2 * (f.s4xxxy * xy + f.s4xxxz * xz)) * xx + (f.s4yyyy * yy + 2 * (f.s4xyyy * xy + f.s4yyyz * yz)) * yy +
                   (f.s4zzzz * zz + 2 * (f.s4xzzz * xz + f.s4yzzz * yz)) * zz +
                   6 * (f.s4xxyy * xx * yy + f.s4xxzz * xx * zz + f.s4yyzz * yy * zz) +
                   6 * (f.s4xxyz * xx * yz + f.s4xyyz * yy * xz + f.s4xyzz * zz * xy);
    return -(f.s0 - (f.s1x * x + f.s1y * y + f.s1z * z) + Real(0.5) * (q - f.s1 * r2) - Real(1. / 6) * (c - 3 * lin * r2) +
             Real(1. / 24) * (d - 6 * t * r2 + 3 * f.s2 * r2 * r2));
}

}  // namespace kasane::gravity
