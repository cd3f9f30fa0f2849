// Gauss's elimination with the largest pivot in complex long double: the oracle of small complex systems, O(n^3).
#pragma once

#include <complex>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kasane::reference {

/// @param matrix  with begin, column and value of its rows; entries of one place are added   @throws std::domain_error: singular
template <class Matrix>
std::vector<std::complex<double>> complex_lu_solve(const Matrix& matrix, const std::vector<std::complex<double>>& b) {
    using Value = std::complex<long double>;
    const auto n = b.size();
    std::vector<Value> a(n * n, Value(0)), x(b.begin(), b.end());
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = matrix.begin[i]; e < matrix.begin[i + 1]; ++e)
            a[i * n + static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(e)])] +=
                Value(matrix.value[static_cast<std::size_t>(e)]);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        if (a[pivot * n + k] == Value(0)) throw std::domain_error("singular");
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        std::swap(x[k], x[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Value factor = a[i * n + k] / a[k * n + k];
            if (factor == Value(0)) continue;
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
    return {x.begin(), x.end()};
}

}  // namespace kasane::reference
