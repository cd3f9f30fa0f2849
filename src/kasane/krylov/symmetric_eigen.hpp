// Eigenvalues and eigenvectors of a small dense symmetric matrix by Jacobi's rotations, for projected problems of Krylov methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace kasane::krylov {

/// All eigenpairs of a symmetric matrix.
struct SymmetricEigen {
    std::vector<double> values;   ///< [n] ascending
    std::vector<double> vectors;  ///< [n][n] by rows; column j belongs to value j, columns are orthonormal
};

/// Computes all eigenpairs by rotations in cyclic order until the off-diagonal entries are below rounding. [Golub & Van Loan 2013,
/// alg. 8.5.3]
/// @param A  [n][n] by rows, symmetric, finite   @param n  rows
inline SymmetricEigen symmetric_eigen(std::vector<double> A, std::size_t n) {
    constexpr int most_sweeps = 60;
    std::vector<double> V(n * n, 0.);
    for (std::size_t i = 0; i < n; ++i) V[i * n + i] = 1;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double beside = 0, all = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                all += A[i * n + j] * A[i * n + j];
                if (i != j) beside += A[i * n + j] * A[i * n + j];
            }
        if (!(beside > 1e-34 * all)) break;
        for (std::size_t p = 0; p + 1 < n; ++p)
            for (std::size_t q = p + 1; q < n; ++q) {
                const double a = A[p * n + q];
                if (a == 0) continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2 * a);
                const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::hypot(theta, 1.));
                const double c = 1 / std::hypot(t, 1.), s = t * c;
                const auto rotate = [&](double& x, double& y) {
                    const double before = x;
                    x = c * before - s * y;
                    y = s * before + c * y;
                };
                for (std::size_t i = 0; i < n; ++i) rotate(A[i * n + p], A[i * n + q]);
                for (std::size_t i = 0; i < n; ++i) rotate(A[p * n + i], A[q * n + i]);
                A[p * n + q] = A[q * n + p] = 0;  // what rounding leaves there would never fall below the limit of the sum
                for (std::size_t i = 0; i < n; ++i) rotate(V[i * n + p], V[i * n + q]);
            }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return A[i * n + i] < A[j * n + j]; });
    SymmetricEigen result{std::vector<double>(n), std::vector<double>(n * n)};
    for (std::size_t j = 0; j < n; ++j) {
        result.values[j] = A[order[j] * n + order[j]];
        for (std::size_t i = 0; i < n; ++i) result.vectors[i * n + j] = V[i * n + order[j]];
    }
    return result;
}

}  // namespace kasane::krylov
