#include <kasane/sparse/aggregation/dense_inverse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kasane::sparse {
namespace {

double conjugate(double x) { return x; }
ComplexNumber conjugate(ComplexNumber z) { return {z.re, -z.im}; }
double real_part_of(double x) { return x; }
double real_part_of(ComplexNumber z) { return z.re; }

}  // namespace

template <class T>
std::vector<T> dense_inverse(std::vector<T> A, int n, bool* semi_definite) {
    constexpr double least_pivot = 1e-6;  // of the diagonal entry: values of A are rounded to single precision
    const auto size = static_cast<std::size_t>(n);
    const T zero = real_number<T>(0);
    // A = L L^H in the lower triangle, column by column; null[i]: pivot i is zero. The inner loops run along rows, so that they are
    // vectors.
    std::vector<char> null(size, 0);
    if (semi_definite != nullptr) *semi_definite = true;
    std::vector<double> diagonal(size);
    std::vector<T> column(size);  // its conjugate
    for (std::size_t i = 0; i < size; ++i) diagonal[i] = real_part_of(A[i * size + i]);
    for (std::size_t j = 0; j < size; ++j) {
        T* const own = A.data() + j * size;
        const double pivot = real_part_of(own[j]);
        null[j] = !(pivot > least_pivot * diagonal[j]);
        if (semi_definite != nullptr && !(pivot >= -least_pivot * std::abs(diagonal[j]))) *semi_definite = false;
        const double root = null[j] ? 1 : std::sqrt(pivot);
        own[j] = real_number<T>(root);
        if (null[j]) std::fill(own, own + j, zero);
        for (std::size_t i = j + 1; i < size; ++i) {
            A[i * size + j] = null[j] ? zero : A[i * size + j] / root;
            column[i] = conjugate(A[i * size + j]);
        }
        for (std::size_t i = j + 1; !null[j] && i < size; ++i) {
            T* const row = A.data() + i * size;
            const T factor = A[i * size + j];
#pragma omp simd
            for (std::size_t k = j + 1; k <= i; ++k) row[k] -= factor * column[k];
        }
    }
    // L^-1, row by row: the columns of the inverse are L^-H L^-1.
    std::vector<T> lower(size * size, zero), inverse(size * size, zero);
    for (std::size_t i = 0; i < size; ++i) {
        if (null[i]) continue;
        T* const row = lower.data() + i * size;
        for (std::size_t k = 0; k < i; ++k) {
            const T factor = A[i * size + k];
            if (magnitude(factor) == 0) continue;
            const T* const other = lower.data() + k * size;
#pragma omp simd
            for (std::size_t j = 0; j <= k; ++j) row[j] -= factor * other[j];
        }
        const double pivot = real_part_of(A[i * size + i]);
        for (std::size_t j = 0; j < i; ++j) row[j] = row[j] / pivot;
        row[i] = real_number<T>(1 / pivot);
    }
    for (std::size_t k = 0; k < size; ++k) {
        const T* const other = lower.data() + k * size;
        for (std::size_t i = 0; i <= k; ++i) {
            T* const row = inverse.data() + i * size;
            const T factor = conjugate(other[i]);
#pragma omp simd
            for (std::size_t j = 0; j <= i; ++j) row[j] += factor * other[j];
        }
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < i; ++j) inverse[j * size + i] = conjugate(inverse[i * size + j]);
    return inverse;
}

template std::vector<double> dense_inverse(std::vector<double>, int, bool*);
template std::vector<ComplexNumber> dense_inverse(std::vector<ComplexNumber>, int, bool*);

}  // namespace kasane::sparse
