// The exact solution of the benchmark's box, without any code of the solver: cosines in x and y, elimination in z.
// Unit cells, -div grad phi = i + j + k (indices from 1), phi = 0 half a cell above the last layer in z, zero flux elsewhere.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::bench {

/// phi [side^3], cell (i, j, k) at i + side (j + side k).
/// The source is a sum of functions of i, j and k alone, and so is its expansion: phi = mean(k) + wave(i, k) + wave(j, k), where `mean`
/// belongs to the source's mean over a layer and `wave` to its part along x, which has no mean. The differences in x have the
/// eigenvectors cos(pi m (i + 1/2) / side) with eigenvalues 2 - 2 cos(pi m / side).        Cost: side^3 / 2 products.
inline std::vector<double> box_solution(index_t side) {
    const auto n = static_cast<std::size_t>(side);
    const double count = static_cast<double>(side);
    // (T + shift) w = f, T the differences in z: diagonal 1, 2, ..., 2, 3 (one cell: 2), off-diagonal -1.
    const auto eliminate = [&](double shift, std::vector<double> f) {
        std::vector<double> pivot(n);
        for (std::size_t k = 0; k < n; ++k) {
            pivot[k] = shift + (k > 0 ? 1 : 0) + (k + 1 < n ? 1 : 2);
            if (k > 0) {
                pivot[k] -= 1 / pivot[k - 1];
                f[k] += f[k - 1] / pivot[k - 1];
            }
        }
        for (std::size_t k = n; k-- > 0;) f[k] = (f[k] + (k + 1 < n ? f[k + 1] : 0)) / pivot[k];
        return f;
    };
    std::vector<double> layer(n);
    for (std::size_t k = 0; k < n; ++k) layer[k] = count + 1 + static_cast<double>(k + 1);
    const auto mean = eliminate(0, layer);

    std::vector<double> wave(n * n), cosine(n);
    for (std::size_t m = 1; m < n; ++m) {
        const double angle = std::numbers::pi * static_cast<double>(m) / count;
        double amplitude = 0;
        for (std::size_t i = 0; i < n; ++i) {
            cosine[i] = std::cos(angle * (static_cast<double>(i) + 0.5));
            amplitude += 2 / count * (static_cast<double>(i + 1) - (count + 1) / 2) * cosine[i];
        }
        const auto along_z = eliminate(2 - 2 * std::cos(angle), std::vector<double>(n, amplitude));
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t i = 0; i < n; ++i) wave[i + n * k] += along_z[k] * cosine[i];
    }
    std::vector<double> phi(n * n * n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < n; ++i) phi[i + n * (j + n * k)] = mean[k] + wave[i + n * k] + wave[j + n * k];
    return phi;
}

}  // namespace kasane::bench
