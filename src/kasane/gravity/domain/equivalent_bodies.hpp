// Bodies with the mass, the centre of mass and the second moments of a node: host and device.
#pragma once

#include <kasane/gravity/tree/octree.hpp>

#include <cmath>
#include <cstdint>

namespace kasane::gravity {

/// Bodies that replace the children of a node.
inline constexpr std::uint32_t equivalent_bodies(bool quadrupole) { return quadrupole ? 6 : 1; }

/// Writes the bodies that replace a node with the centre c. With second moments Q these are six: with the columns l of a triangular matrix
/// for which L L^T = Q / m, they are at c + sqrt(3) l and c - sqrt(3) l. @param moments  null for monopoles: one body
KS_FN void write_equivalent(const Body& c, const Quadrupole* moments, Body* to) {
    if (!moments) {
        *to = c;
        return;
    }
    const Quadrupole q = *moments;
    const float per_mass = c.m > 0 ? 1 / c.m : 0.f, tiny = 1e-6f * (q.xx + q.yy + q.zz) * per_mass;
    const auto root = [tiny](float x) { return x > tiny ? std::sqrt(x) : 0.f; };
    const auto over = [](float x, float y) { return y > 0 ? x / y : 0.f; };
    const float xx = root(q.xx * per_mass), yx = over(q.xy * per_mass, xx), zx = over(q.xz * per_mass, xx);
    const float yy = root(q.yy * per_mass - yx * yx), zy = over(q.yz * per_mass - zx * yx, yy);
    const float zz = root(q.zz * per_mass - zx * zx - zy * zy);
    const float column[3][3] = {{xx, yx, zx}, {0, yy, zy}, {0, 0, zz}};
    constexpr float sqrt3 = 1.7320508f;
    for (int k = 0; k < 6; ++k) {
        const float* const l = column[k / 2];
        const float s = k % 2 == 0 ? sqrt3 : -sqrt3;
        to[k] = {c.x + s * l[0], c.y + s * l[1], c.z + s * l[2], c.m / 6};
    }
}

}  // namespace kasane::gravity
