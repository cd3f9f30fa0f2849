// Complex matrices of three kinds, and residuals.
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

namespace kasane::sparse::test {

using Value = std::complex<double>;
using Values = std::vector<Value>;

/// A matrix from its entries, row by row; entries that are 0 are left out.
inline ComplexCsrMatrix complex_matrix(index_t n, const std::function<Value(index_t, index_t)>& entry, index_t reach) {
    ComplexCsrMatrix A;
    A.begin = {0};
    for (index_t i = 0; i < n; ++i) {
        for (index_t j = std::max<index_t>(0, i - reach); j < std::min(n, i + reach + 1); ++j)
            if (const Value a = entry(i, j); a != 0.) A.column.push_back(static_cast<std::int32_t>(j)), A.value.push_back(a);
        A.begin.push_back(std::ssize(A.value));
    }
    return A;
}

/// The five-point operator of m^2 points: `diagonal`, and the entry of a point and its neighbour at (dx, dy).
inline ComplexCsrMatrix on_square(index_t m, Value diagonal, const std::function<Value(index_t x, index_t y, int dx, int dy)>& neighbour) {
    return complex_matrix(
        m * m,
        [&](index_t i, index_t j) -> Value {
            const index_t x = i % m, y = i / m, dx = j % m - x, dy = j / m - y;
            if (i == j) return diagonal;
            return std::abs(dx) + std::abs(dy) == 1 ? neighbour(x, y, static_cast<int>(dx), static_cast<int>(dy)) : 0.;
        },
        m);
}

/// Helmholtz: -laplace u - k^2 u on a unit grid with spacing 1 and k^2 = `square`: complex symmetric.
inline ComplexCsrMatrix helmholtz_with_loss(index_t m, Value square) {
    return on_square(m, 4. - square, [](index_t, index_t, int, int) { return Value(-1); });
}

/// An electron on a lattice in a magnetic field: Hermitian; positive definite for a mass above 0.
inline ComplexCsrMatrix in_magnetic_field(index_t m, double flux, double mass) {
    return on_square(m, 4. + mass, [&](index_t x, index_t, int, int dy) { return -std::polar(1., flux * static_cast<double>(x) * dy); });
}

/// A phase without order.
inline double phase_of_point(index_t i) { return 6.3 * std::sin(12.9898 * static_cast<double>(i)); }

/// -D (k D u) on m x `length` points in a magnetic field, with phases on the links (Peierls) and u = 0 beyond the first line: Hermitian
/// positive definite. The coefficient k jumps from 1 to `jump` in the middle third of the length; each point has its
/// phase_of_point(), which changes no eigenvalue. @param flux  phase around a square of the lattice   @param shift  of the diagonal
inline ComplexCsrMatrix in_magnetic_field_with_jump(index_t m, index_t length, double flux, double jump, double shift = 0) {
    const auto coefficient = [&](index_t y) { return y >= length / 3 && y < 2 * length / 3 ? jump : 1; };
    // Of the link from (x, y) to its neighbour, the harmonic mean.
    const auto of_link = [&](index_t y, index_t other) {
        const double a = coefficient(y), b = coefficient(other);
        return 2 * a * b / (a + b);
    };
    return complex_matrix(
        m * length,
        [&](index_t i, index_t j) -> Value {
            const index_t x = i % m, y = i / m, dx = j % m - x, dy = j / m - y;
            if (i == j) {
                double sum = y == 0 ? 1 : 0;
                for (const index_t side : {-1, 1}) {
                    if (x + side >= 0 && x + side < m) sum += of_link(y, y);
                    if (y + side >= 0 && y + side < length) sum += of_link(y, y + side);
                }
                return sum + shift;
            }
            if (std::abs(dx) + std::abs(dy) != 1) return 0.;
            return -of_link(y, y + dy) * std::polar(1., flux * static_cast<double>(x * dy) + phase_of_point(i) - phase_of_point(j));
        },
        m);
}

/// Neither Hermitian nor symmetric, with rows of different lengths.
inline ComplexCsrMatrix without_symmetry(index_t n) {
    return complex_matrix(
        n,
        [](index_t i, index_t j) -> Value {
            if (i == j) return {3 + std::sin(static_cast<double>(i)), 2 * std::cos(3. * static_cast<double>(i))};
            return (i * 7 + j * 13) % 5 < 2 ? std::polar(0.6, static_cast<double>(i + 2 * j)) : 0.;
        },
        4);
}

/// Rows and columns of A times powers of two from 2^-`most` to 2^`most`. @param symmetric  the same for row and column
struct OfManySizes {
    ComplexCsrMatrix A;
    std::vector<double> row, column;  ///< the powers
};
inline OfManySizes of_many_sizes(const ComplexCsrMatrix& A, int most, bool symmetric) {
    const auto power = [&](std::size_t i, std::size_t step) {
        return std::ldexp(1., static_cast<int>(i * step % static_cast<std::size_t>(2 * most + 1)) - most);
    };
    OfManySizes sized{A, {}, {}};
    const auto n = static_cast<std::size_t>(A.rows());
    for (std::size_t i = 0; i < n; ++i) {
        sized.row.push_back(power(i, 7919));
        sized.column.push_back(power(i, symmetric ? 7919 : 104729));
    }
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            sized.A.value[e] *= sized.row[i] * sized.column[static_cast<std::size_t>(A.column[e])];
    return sized;
}

inline Values complex_waves(index_t n) {
    Values b;
    for (index_t i = 0; i < n; ++i) b.push_back({std::sin(0.3 * static_cast<double>(i)), std::cos(0.7 * static_cast<double>(i))});
    return b;
}

inline Values times(const ComplexCsrMatrix& A, const Values& x) {
    Values y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i)
        for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e)
            y[i] += A.value[static_cast<std::size_t>(e)] * x[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])];
    return y;
}

/// ||a - b|| / ||b||
inline double relative_distance(const Values& a, const Values& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < b.size(); ++i) difference += std::norm(a[i] - b[i]), size += std::norm(b[i]);
    return std::sqrt(difference / size);
}

}  // namespace kasane::sparse::test
