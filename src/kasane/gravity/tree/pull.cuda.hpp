// Acceleration and potential of one body or cell at one target, in float: the inner loops of the CUDA walk `lists`.
#pragma once

#include <kasane/gravity/softening/pair.cuda.hpp>
#include <kasane/gravity/tree/warp.cuda.hpp>

namespace kasane::gravity::detail {

struct Sums {
    float x = 0, y = 0, z = 0, phi = 0, same = 0;
};

/// A point mass: 13 issue slots, and half of one to load it from shared memory. Bodies at the target, itself included, do not enter the
/// potential: `same` sums their masses.
template <bool Phi>
__device__ inline void pull_of_body(float4 b, float x, float y, float z, float eps2, Sums& sum) {
    const float dx = b.x - x, dy = b.y - y, dz = b.z - z;
    const float r2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2)));
    const float over_r = over_sqrt(r2);
    const float w = b.w * over_r, w3 = w * (over_r * over_r);
    sum.x = fmaf(w3, dx, sum.x);
    sum.y = fmaf(w3, dy, sum.y);
    sum.z = fmaf(w3, dz, sum.z);
    if constexpr (Phi) {
        const bool apart = r2 > eps2;
        sum.phi += apart ? w : 0.f;
        sum.same += apart ? 0.f : b.w;
    }
}

/// A point mass with a softening term. @param eps2  sum of the terms of body and target   @param own  the body is the target
template <bool Phi, PairSoftening form>
__device__ inline void pull_of_softened_body(float4 b, float x, float y, float z, float eps2, bool own, Sums& sum) {
    const float dx = b.x - x, dy = b.y - y, dz = b.z - z;
    const auto pair = combined_pair<form>(fmaf(dz, dz, fmaf(dy, dy, dx * dx)), eps2);
    const float w3 = b.w * pair.force;
    sum.x = fmaf(w3, dx, sum.x);
    sum.y = fmaf(w3, dy, sum.y);
    sum.z = fmaf(w3, dz, sum.z);
    if constexpr (Phi) sum.phi += own ? 0.f : b.w * pair.potential;
}

/// A cell with second moments about its centre of mass, the softened potential to second order:
///     phi = -[ M/rho + (3 d.Qd/rho^5 - tr Q/rho^3)/2 ],  rho^2 = d^2 + eps^2.
/// With n = d/rho, so that nothing underflows: a = n [M + 7.5 n.Qn/rho^2 - 1.5 tr Q/rho^2]/rho^2 - 3 Qn/rho^4. 34 slots.
template <bool Phi>
__device__ inline void pull_of_cell(float4 c, float4 q, float4 r, float x, float y, float z, float eps2, Sums& sum) {
    const float dx = c.x - x, dy = c.y - y, dz = c.z - z;
    const float over_r = over_sqrt(fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2))));
    const float nx = dx * over_r, ny = dy * over_r, nz = dz * over_r;
    const float qx = fmaf(q.x, nx, fmaf(q.y, ny, q.z * nz));
    const float qy = fmaf(q.y, nx, fmaf(q.w, ny, r.x * nz));
    const float qz = fmaf(q.z, nx, fmaf(r.x, ny, r.y * nz));
    const float nqn = fmaf(qx, nx, fmaf(qy, ny, qz * nz));
    const float over_r2 = over_r * over_r, over_r4 = over_r2 * over_r2;
    const float along = fmaf(over_r4, nqn + r.z, c.w * over_r2), across = -0.4f * over_r4;
    sum.x = fmaf(along, nx, fmaf(across, qx, sum.x));
    sum.y = fmaf(along, ny, fmaf(across, qy, sum.y));
    sum.z = fmaf(along, nz, fmaf(across, qz, sum.z));
    if constexpr (Phi) sum.phi += over_r * fmaf(over_r2, fmaf(0.2f, nqn, (1.f / 3) * r.z), c.w);
}

}  // namespace kasane::gravity::detail
