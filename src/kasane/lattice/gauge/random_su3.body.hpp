// Random SU(3) matrices, host and device.
#pragma once

#include <kasane/lattice/random.hpp>
#include <kasane/lattice/su3.hpp>

namespace kasane::lattice {

/// Haar-distributed: rows 1 and 2 of a Gaussian matrix, made orthonormal, are a uniform pair, and determine the third row.
KS_FN Su3<double> random_su3(RandomStream& random) {
    Su3<double> u{};
    for (int row = 0; row < 2; ++row)
        for (int k = 0; k < 3; ++k) {
            const auto [re, im] = gaussian_pair(random);
            u.e[row][k] = {re, im};
        }
    return reunitarised(u);
}

/// i sum_a g_a lambda_a / 2 with standard Gaussian g_a, lambda_a Gell-Mann's matrices.
KS_FN Su3<double> random_algebra(RandomStream& random) {
    Su3<double> a{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j) {
            const auto [symmetric, antisymmetric] = gaussian_pair(random);  // lambda 1, 4, 6 and 2, 5, 7
            a.e[j][i] = {antisymmetric / 2, symmetric / 2};
            a.e[i][j] = {-antisymmetric / 2, symmetric / 2};
        }
    const auto [g3, g8] = gaussian_pair(random);
    const double third = g8 / sqrt(3.);
    a.e[0][0].im = (g3 + third) / 2;
    a.e[1][1].im = (third - g3) / 2;
    a.e[2][2].im = -third;
    return a;
}

}  // namespace kasane::lattice
