// Nonsymmetric and indefinite matrices for tests, from their entries.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace kasane::sparse::test {

/// Entries by place; assembled with ascending columns.
struct Entries {
    index_t n;
    std::map<std::pair<index_t, index_t>, double> at;
    CsrMatrix matrix() const {
        CsrMatrix A;
        A.begin.assign(static_cast<std::size_t>(n) + 1, 0);
        for (const auto& [place, value] : at) {
            ++A.begin[static_cast<std::size_t>(place.first) + 1];
            A.column.push_back(static_cast<std::int32_t>(place.second));
            A.value.push_back(value);
        }
        for (std::size_t i = 1; i < A.begin.size(); ++i) A.begin[i] += A.begin[i - 1];
        return A;
    }
};

/// -nu (phi_xx + phi_yy) + u phi_x + v phi_y on the unit square with side^2 points inside, phi = 0 outside, upwind differences, times h^2.
inline CsrMatrix convection(index_t side, double nu, double u, double v) {
    Entries entries{side * side, {}};
    const double h = 1. / static_cast<double>(side + 1);
    for (index_t j = 0; j < side; ++j)
        for (index_t i = 0; i < side; ++i) {
            const index_t row = i + side * j;
            entries.at[{row, row}] = 4 * nu + h * (std::fabs(u) + std::fabs(v));
            const auto neighbour = [&](index_t a, index_t b, double wind) {
                if (a >= 0 && a < side && b >= 0 && b < side) entries.at[{row, a + side * b}] = -nu - h * std::fmax(wind, 0.);
            };
            neighbour(i - 1, j, u), neighbour(i + 1, j, -u), neighbour(i, j - 1, v), neighbour(i, j + 1, -v);
        }
    return entries.matrix();
}

/// About `per_row` entries a row, uniform in -1 ... 1; `diagonal` is added to the diagonal.
inline CsrMatrix random_general(index_t n, int per_row, double diagonal, std::uint64_t seed) {
    RandomStream random(seed, 3);
    Entries entries{n, {}};
    for (index_t i = 0; i < n; ++i) {
        for (int k = 0; k < per_row; ++k)
            entries.at[{i, static_cast<index_t>(random.uniform() * static_cast<double>(n))}] = 2 * random.uniform() - 1;
        entries.at[{i, i}] += diagonal;
    }
    return entries.matrix();
}

/// The five-point Laplacian on side^2 points, its diagonal lowered by `shift`: indefinite where that is above the smallest eigenvalue.
inline CsrMatrix helmholtz(index_t side, double shift) {
    CsrMatrix A = convection(side, 1, 0, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(A.rows()); ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] == static_cast<std::int32_t>(i)) A.value[static_cast<std::size_t>(e)] -= shift;
    return A;
}

/// [K B; B^T 0]: K a chain of 2, -1 on n points, B the differences of every second pair.
inline CsrMatrix saddle_point(index_t n) {
    const index_t m = n / 2;
    Entries entries{n + m, {}};
    for (index_t i = 0; i < n; ++i) {
        entries.at[{i, i}] = 2;
        if (i > 0) entries.at[{i, i - 1}] = entries.at[{i - 1, i}] = -1;
    }
    for (index_t k = 0; k < m; ++k) {
        entries.at[{2 * k, n + k}] = entries.at[{n + k, 2 * k}] = 1;
        if (2 * k + 1 < n) entries.at[{2 * k + 1, n + k}] = entries.at[{n + k, 2 * k + 1}] = -1;
    }
    return entries.matrix();
}

inline std::vector<double> product(const CsrMatrix& A, const std::vector<double>& x) {
    std::vector<double> y(x.size(), 0.);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            y[i] += A.value[static_cast<std::size_t>(e)] * x[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])];
    return y;
}

/// ||b - A x|| / ||b|| in long double.
inline double residual_of(const CsrMatrix& A, const std::vector<double>& b, const std::vector<double>& x) {
    long double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        long double r = b[i];
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            r -= static_cast<long double>(A.value[static_cast<std::size_t>(e)]) *
                 static_cast<long double>(x[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])]);
        r2 += r * r;
        b2 += static_cast<long double>(b[i]) * static_cast<long double>(b[i]);
    }
    return static_cast<double>(std::sqrt(r2 / b2));
}

inline std::vector<double> waves(index_t n) {
    std::vector<double> x;
    for (index_t i = 0; i < n; ++i) x.push_back(std::sin(0.7 * static_cast<double>(i)) + 1.5);
    return x;
}

}  // namespace kasane::sparse::test
