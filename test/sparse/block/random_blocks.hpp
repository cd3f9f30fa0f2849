// Symmetric positive definite matrices of dense blocks on a grid.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cmath>
#include <vector>

namespace kasane::sparse::test {

/// m^2 points, each coupled with its four neighbours by a block of its own; the diagonal dominates.
inline CsrMatrix random_blocks(index_t m, int block) {
    const index_t rows = m * m * block;
    const auto entry = [&](index_t i, index_t j) -> double {  // of i >= j
        if (i == j) return 5. * block + std::sin(static_cast<double>(i));
        return std::sin(static_cast<double>(7 * i + 3 * j) + 0.3 * static_cast<double>(i % 11) * static_cast<double>(j % 5));
    };
    CsrMatrix A;
    A.begin = {0};
    for (index_t i = 0; i < rows; ++i) {
        const index_t point = i / block, x = point % m, y = point / m;
        const auto put = [&](index_t other) {
            for (index_t j = other * block; j < (other + 1) * block; ++j)
                A.column.push_back(static_cast<std::int32_t>(j)), A.value.push_back(entry(std::max(i, j), std::min(i, j)));
        };
        if (y > 0) put(point - m);
        if (x > 0) put(point - 1);
        put(point);
        if (x + 1 < m) put(point + 1);
        if (y + 1 < m) put(point + m);
        A.begin.push_back(std::ssize(A.value));
    }
    return A;
}

inline std::vector<double> block_waves(index_t n) {
    std::vector<double> b;
    for (index_t i = 0; i < n; ++i) b.push_back(std::sin(0.3 * static_cast<double>(i)) + 0.5);
    return b;
}

inline std::vector<double> product_with(const CsrMatrix& A, const std::vector<double>& x) {
    std::vector<double> y(x.size(), 0.);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            y[i] += A.value[e] * x[static_cast<std::size_t>(A.column[e])];
    return y;
}

/// ||a - b|| / ||b||
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < b.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
    return std::sqrt(difference / size);
}

}  // namespace kasane::sparse::test
