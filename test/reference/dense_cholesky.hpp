// A dense Cholesky solver of small symmetric positive definite systems in compressed rows: the plainest oracle there is, O(n^3).
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace kasane::reference {

/// @param matrix  with begin, column and value of its rows, both triangles   @throws std::domain_error: not positive definite
template <class Matrix>
std::vector<double> dense_solve(const Matrix& matrix, std::vector<double> b) {
    const auto n = b.size();
    std::vector<double> a(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = matrix.begin[i]; e < matrix.begin[i + 1]; ++e)
            a[i * n + static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(e)])] += matrix.value[static_cast<std::size_t>(e)];
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) throw std::domain_error("not positive definite");
            a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
        }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return b;
}

}  // namespace kasane::reference
