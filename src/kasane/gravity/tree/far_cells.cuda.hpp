// Cells far from a whole group of targets, monopole and second moments, as one Taylor series about the group's centre: fourth order
// in the potential, third in the acceleration, quadrupoles to the same total order. Each lane adds cells to sums of its own; the sums of
// the lanes are added at the end. About 8 operations per target and cell (one cell a lane) where a pair takes 34.
// Invariants: lengths in units of the group's radius, so that powers up to the ninth stay in the range of float; softening is exact.
//
// With X = cell - centre, rho^2 = X^2 + eps^2 and g1 = 1/rho^3, g2 = 3/rho^5, g3 = 15/rho^7, g4 = 105/rho^9, the derivatives of
// 1/rho with respect to the target's place y are (signs for X - y)
//     D_i = g1 X_i,  D_ij = g2 X_i X_j - g1 d_ij,  D_ijk = g3 X_i X_j X_k - g2 (d_ij X_k + 2 more),
//     D_ijkl = g4 X_i X_j X_k X_l - g3 (d_ij X_k X_l + 5 more) + g2 (d_ij d_kl + 2 more),
// and phi(y) = -sum_n (L_n . y^n)/n! with L_n = sum over cells of M D_n + Q : D_{n+2} / 2.
#pragma once

namespace kasane::gravity::detail {

struct FarSeries {
    static constexpr int count = 35;
    float l[count];
    // Order of the terms: those of degree 0 to 4, each degree with its indices ascending as in a sorted word of x, y and z: 1, then x y z,
    // then xx xy xz yy yz zz, and so on to the fifteen of degree 4, zzzz the last.
};

/// Adds a cell.   @param x, y, z  cell minus centre   @param over_rho  1/sqrt(x^2 + y^2 + z^2 + eps^2)
__device__ inline void add_monopole(float (&l)[FarSeries::count], float x, float y, float z, float m, float over_rho) {
    const float w = over_rho * over_rho;
    const float m0 = m * over_rho, g1 = m0 * w, g2 = 3 * g1 * w, g3 = 5 * g2 * w, g4 = 7 * g3 * w;
    l[0] += m0;
    l[1] += g1 * x, l[2] += g1 * y, l[3] += g1 * z;
    const float xx = x * x, yy = y * y, zz = z * z;
    const float gx = g2 * x, gy = g2 * y, gz = g2 * z;
    l[4] += gx * x - g1, l[7] += gy * y - g1, l[9] += gz * z - g1;
    l[5] += gx * y, l[6] += gx * z, l[8] += gy * z;
    // third: x (g3 xx - 3 g2), y (g3 xx - g2) and so on
    const float ax = g3 * xx - g2, ay = g3 * yy - g2, az = g3 * zz - g2;
    l[10] += x * (ax - 2 * g2), l[16] += y * (ay - 2 * g2), l[19] += z * (az - 2 * g2);
    l[11] += y * ax, l[12] += z * ax, l[13] += x * ay, l[15] += x * az, l[17] += z * ay, l[18] += y * az;
    const float hxy = g3 * x * y;
    l[14] += hxy * z;
    // fourth: b = g4 xx - g3, so that xxxx = xx (b - 5 g3) + 3 g2, xxxy = xy (b - 2 g3), xxyy = yy b - g3 xx + g2, xxyz = yz b
    const float xy = x * y, xz = x * z, yz = y * z;
    const float bx = g4 * xx - g3, by = g4 * yy - g3, bz = g4 * zz - g3;
    const float three_g2 = 3 * g2, two_g3 = 2 * g3, five_g3 = 5 * g3;
    l[20] += xx * (bx - five_g3) + three_g2, l[30] += yy * (by - five_g3) + three_g2, l[34] += zz * (bz - five_g3) + three_g2;
    l[21] += xy * (bx - two_g3), l[22] += xz * (bx - two_g3), l[26] += xy * (by - two_g3);
    l[29] += xz * (bz - two_g3), l[31] += yz * (by - two_g3), l[33] += yz * (bz - two_g3);
    l[23] += yy * bx - ax, l[25] += zz * bx - ax, l[32] += zz * by - ay;
    l[24] += yz * bx, l[27] += xz * by, l[28] += xy * bz;
}

/// Adds the second moments of a cell, in the same units, to the terms up to second order.
__device__ inline void add_quadrupole(float (&l)[FarSeries::count], float x, float y, float z, float xx, float xy, float xz, float yy,
                                      float yz, float zz, float over_rho) {
    const float w = over_rho * over_rho;
    const float h1 = 0.5f * over_rho * w, h2 = 3 * h1 * w, h3 = 5 * h2 * w, h4 = 7 * h3 * w;  // g / 2
    const float qx = xx * x + xy * y + xz * z, qy = xy * x + yy * y + yz * z, qz = xz * x + yz * y + zz * z;
    const float xqx = qx * x + qy * y + qz * z, trace = xx + yy + zz;
    l[0] += h2 * xqx - h1 * trace;
    const float along = h3 * xqx - h2 * trace, across = 2 * h2;
    l[1] += along * x - across * qx, l[2] += along * y - across * qy, l[3] += along * z - across * qz;
    const float a = h4 * xqx - h3 * trace, b = h2 * trace - h3 * xqx, c = 2 * h3, d = 2 * h2;
    const float ax = a * x - c * qx, ay = a * y - c * qy, az = a * z - c * qz;
    const float cx = c * x, cy = c * y, cz = c * z;
    l[4] += ax * x - cx * qx + (b + d * xx);
    l[5] += ax * y - cx * qy + d * xy;
    l[6] += ax * z - cx * qz + d * xz;
    l[7] += ay * y - cy * qy + (b + d * yy);
    l[8] += ay * z - cy * qz + d * yz;
    l[9] += az * z - cz * qz + (b + d * zz);
}

/// Acceleration and, with Phi, -potential (G = 1) at centre + (x, y, z), in the series' units.
struct FarValue {
    float ax, ay, az, phi;
};
template <bool Phi>
__device__ inline FarValue far_field(const float* l, float x, float y, float z) {
    // Horner's scheme: contracted with y from the highest order down; M_n = L_n + L_{n+1} y / (n + 1), symmetric tensors each time.
    float t3[10], t2[6], t1[3];
    constexpr float third = 1.f / 3, quarter = 0.25f;
    constexpr int up[10][3] = {{20, 21, 22}, {21, 23, 24}, {22, 24, 25}, {23, 26, 27}, {24, 27, 28},
                               {25, 28, 29}, {26, 30, 31}, {27, 31, 32}, {28, 32, 33}, {29, 33, 34}};
    constexpr int up2[6][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}, {3, 6, 7}, {4, 7, 8}, {5, 8, 9}};
    constexpr int up1[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    // for the acceleration grad = L_1 + (L_2 y + (L_3 y y + L_4 y y y / 3) / 2): divisors 1, 2, 3; for phi 2, 3, 4 and 1
    float c3[10];
#pragma unroll
    for (int k = 0; k < 10; ++k) c3[k] = l[up[k][0]] * x + l[up[k][1]] * y + l[up[k][2]] * z;
#pragma unroll
    for (int k = 0; k < 10; ++k) t3[k] = l[10 + k] + third * c3[k];
    float c2[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) c2[k] = t3[up2[k][0]] * x + t3[up2[k][1]] * y + t3[up2[k][2]] * z;
#pragma unroll
    for (int k = 0; k < 6; ++k) t2[k] = l[4 + k] + 0.5f * c2[k];
#pragma unroll
    for (int k = 0; k < 3; ++k) t1[k] = l[1 + k] + t2[up1[k][0]] * x + t2[up1[k][1]] * y + t2[up1[k][2]] * z;
    FarValue value{t1[0], t1[1], t1[2], 0};
    if constexpr (Phi) {
        // phi = L_0 + L_1 y + L_2 yy / 2 + L_3 yyy / 6 + L_4 yyyy / 24
        float p3[10], p2[6], p1[3];
#pragma unroll
        for (int k = 0; k < 10; ++k) p3[k] = l[10 + k] + quarter * c3[k];
#pragma unroll
        for (int k = 0; k < 6; ++k) p2[k] = l[4 + k] + third * (p3[up2[k][0]] * x + p3[up2[k][1]] * y + p3[up2[k][2]] * z);
#pragma unroll
        for (int k = 0; k < 3; ++k) p1[k] = l[1 + k] + 0.5f * (p2[up1[k][0]] * x + p2[up1[k][1]] * y + p2[up1[k][2]] * z);
        value.phi = l[0] + p1[0] * x + p1[1] * y + p1[2] * z;
    }
    return value;
}

}  // namespace kasane::gravity::detail
