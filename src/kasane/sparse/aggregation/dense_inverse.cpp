#include <kasane/sparse/aggregation/dense_inverse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kasane::sparse {

std::vector<double> dense_inverse(std::vector<double> A, int n, bool* semi_definite) {
    constexpr double least_pivot = 1e-6;  // of the diagonal entry: values of A are rounded to single precision
    const auto size = static_cast<std::size_t>(n);
    // A = L L^T in the lower triangle, column by column; null[i]: pivot i is zero. The inner loops run along rows, so that they are
    // vectors.
    std::vector<char> null(size, 0);
    if (semi_definite != nullptr) *semi_definite = true;
    std::vector<double> diagonal(size), column(size);
    for (std::size_t i = 0; i < size; ++i) diagonal[i] = A[i * size + i];
    for (std::size_t j = 0; j < size; ++j) {
        double* const own = A.data() + j * size;
        null[j] = !(own[j] > least_pivot * diagonal[j]);
        if (semi_definite != nullptr && !(own[j] >= -least_pivot * std::abs(diagonal[j]))) *semi_definite = false;
        own[j] = null[j] ? 1 : std::sqrt(own[j]);
        if (null[j]) std::fill(own, own + j, 0.);
        for (std::size_t i = j + 1; i < size; ++i) column[i] = A[i * size + j] = null[j] ? 0 : A[i * size + j] / own[j];
        for (std::size_t i = j + 1; !null[j] && i < size; ++i) {
            double* const row = A.data() + i * size;
            const double factor = column[i];
#pragma omp simd
            for (std::size_t k = j + 1; k <= i; ++k) row[k] -= factor * column[k];
        }
    }
    // L^-1, row by row: the columns of the inverse are L^-T L^-1.
    std::vector<double> lower(size * size, 0.), inverse(size * size, 0.);
    for (std::size_t i = 0; i < size; ++i) {
        if (null[i]) continue;
        double* const row = lower.data() + i * size;
        for (std::size_t k = 0; k < i; ++k) {
            const double factor = A[i * size + k];
            if (factor == 0) continue;
            const double* const other = lower.data() + k * size;
#pragma omp simd
            for (std::size_t j = 0; j <= k; ++j) row[j] -= factor * other[j];
        }
        for (std::size_t j = 0; j < i; ++j) row[j] /= A[i * size + i];
        row[i] = 1 / A[i * size + i];
    }
    for (std::size_t k = 0; k < size; ++k) {
        const double* const other = lower.data() + k * size;
        for (std::size_t i = 0; i <= k; ++i) {
            double* const row = inverse.data() + i * size;
            const double factor = other[i];
#pragma omp simd
            for (std::size_t j = 0; j <= i; ++j) row[j] += factor * other[j];
        }
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < i; ++j) inverse[j * size + i] = inverse[i * size + j];
    return inverse;
}

}  // namespace kasane::sparse
