#include <kasane/sparse/aggregation/dense_inverse.hpp>

#include <cmath>
#include <cstddef>

namespace kasane::sparse {

std::vector<double> dense_inverse(std::vector<double> A, int n, bool* semi_definite) {
    constexpr double least_pivot = 1e-6;  // of the diagonal entry: values of A are rounded to single precision
    const auto size = static_cast<std::size_t>(n);
    // A = L L^T in the lower triangle, by rows; null[i]: pivot i is zero.
    std::vector<char> null(size, 0);
    if (semi_definite != nullptr) *semi_definite = true;
    for (std::size_t i = 0; i < size; ++i) {
        double* const row = A.data() + i * size;
        const double diagonal = row[i];
        for (std::size_t j = 0; j < i; ++j) {
            const double* const other = A.data() + j * size;
            double sum = row[j];
            for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
            row[j] = null[j] ? 0 : sum / other[j];
        }
        double pivot = diagonal;
        for (std::size_t k = 0; k < i; ++k) pivot -= row[k] * row[k];
        null[i] = !(pivot > least_pivot * diagonal);
        if (semi_definite != nullptr && !(pivot >= -least_pivot * std::abs(diagonal))) *semi_definite = false;
        row[i] = null[i] ? 1 : std::sqrt(pivot);
        if (null[i])
            for (std::size_t k = 0; k < i; ++k) row[k] = 0;
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
            for (std::size_t j = 0; j <= k; ++j) row[j] -= factor * other[j];
        }
        for (std::size_t j = 0; j < i; ++j) row[j] /= A[i * size + i];
        row[i] = 1 / A[i * size + i];
    }
    for (std::size_t k = 0; k < size; ++k)
        for (std::size_t i = 0; i <= k; ++i) {
            const double factor = lower[k * size + i];
            if (factor == 0) continue;
            for (std::size_t j = 0; j <= k; ++j) inverse[i * size + j] += factor * lower[k * size + j];
        }
    return inverse;
}

}  // namespace kasane::sparse
