// Dense complex matrices for tests on small lattices: product with a vector, solution and log |det| by Gauss's elimination with the largest
// pivot.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace kasane::reference {

struct DenseMatrix {
    using Number = std::complex<double>;
    std::size_t n;
    std::vector<Number> entries;  ///< row by row

    explicit DenseMatrix(std::size_t size) : n(size), entries(size * size) {}
    Number& at(std::size_t row, std::size_t column) { return entries[row * n + column]; }
    const Number& at(std::size_t row, std::size_t column) const { return entries[row * n + column]; }

    std::vector<Number> times(const std::vector<Number>& x) const {
        std::vector<Number> y(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) y[i] += at(i, j) * x[j];
        return y;
    }
    DenseMatrix adjoint() const {
        DenseMatrix out(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) out.at(i, j) = std::conj(at(j, i));
        return out;
    }
    /// m^+ m + shift
    DenseMatrix normal(double shift) const {
        DenseMatrix out(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t k = 0; k < n; ++k) out.at(i, j) += std::conj(at(k, i)) * at(k, j);
            out.at(i, i) += shift;
        }
        return out;
    }
    /// m^-1 of every column, and log |det m|.
    std::pair<std::vector<std::vector<Number>>, double> solve(std::vector<std::vector<Number>> columns) const {
        auto m = *this;
        double log_determinant = 0;
        for (std::size_t k = 0; k < n; ++k) {
            std::size_t pivot = k;
            for (std::size_t i = k; i < n; ++i)
                if (std::abs(m.at(i, k)) > std::abs(m.at(pivot, k))) pivot = i;
            for (std::size_t j = 0; j < n; ++j) std::swap(m.at(k, j), m.at(pivot, j));
            for (auto& column : columns) std::swap(column[k], column[pivot]);
            log_determinant += std::log(std::abs(m.at(k, k)));
            for (std::size_t i = k + 1; i < n; ++i) {
                const Number factor = m.at(i, k) / m.at(k, k);
                for (std::size_t j = k; j < n; ++j) m.at(i, j) -= factor * m.at(k, j);
                for (auto& column : columns) column[i] -= factor * column[k];
            }
        }
        for (auto& column : columns)
            for (std::size_t i = n; i-- > 0;) {
                for (std::size_t j = i + 1; j < n; ++j) column[i] -= m.at(i, j) * column[j];
                column[i] /= m.at(i, i);
            }
        return {columns, log_determinant};
    }
};

}  // namespace kasane::reference
