// Matrices of complex numbers in compressed rows: ComplexCsrView refers to the caller's arrays, ComplexCsrMatrix owns its arrays.
// Invariants: as csr.hpp.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/matrix/kind.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace kasane::sparse {

/// A square matrix of complex numbers in compressed rows, in host memory of the caller.
struct ComplexCsrView {
    CsrView pattern;                              ///< rows, offsets and columns; it has no values
    const std::complex<double>* value = nullptr;  ///< [nonzeros]

    /// No matrix.
    ComplexCsrView() = default;
    /// Refers to arrays of 32- or 64-bit integers and complex numbers.
    /// @param rows       n
    /// @param row_begin  [n + 1] first entry of each row, and their number
    /// @param columns    [row_begin[n]] 0-based
    /// @param values     [row_begin[n]]
    template <std::signed_integral Offset, std::signed_integral Column>
    ComplexCsrView(index_t rows, const Offset* row_begin, const Column* columns, const std::complex<double>* values)
        : pattern(rows, row_begin, columns, static_cast<const double*>(nullptr)), value(values) {}
};

/// A square matrix of complex numbers in compressed rows that owns its arrays, on the host.
struct ComplexCsrMatrix {
    std::vector<index_t> begin;               ///< [n + 1]
    std::vector<std::int32_t> column;         ///< [nonzeros] ascending inside a row when canonical
    std::vector<std::complex<double>> value;  ///< [nonzeros]
    /// Rows and columns.
    index_t rows() const { return begin.empty() ? 0 : static_cast<index_t>(begin.size()) - 1; }
    /// Entries.
    index_t nonzeros() const { return begin.empty() ? 0 : begin.back(); }
    /// The matrix without ownership; valid as long as the arrays are.
    ComplexCsrView view() const { return {rows(), begin.data(), column.data(), value.data()}; }
};

/// Properties of a complex matrix that decide the method.
struct ComplexKind {
    bool hermitian = false;  ///< a_ij = conj(a_ji), up to 1e-12 of the larger
    bool symmetric = false;  ///< a_ij = a_ji, up to 1e-12 of the larger
    bool positive = false;   ///< Hermitian, a_ii > 0 and |a_ij|^2 <= a_ii a_jj: the matrix may be positive definite
    std::string text;        ///< "the matrix is Hermitian", "... complex symmetric", "... neither Hermitian nor symmetric"
};

/// Returns the larger of |Re a_ij| and |Im a_ij| for each entry; the structure and the scales of the matrix follow from them. NaN where a
/// part is not finite.
std::vector<double> magnitudes(const ComplexCsrView& A);
/// The kind of a canonical matrix that passed kind_of() with its magnitudes.
ComplexKind complex_kind_of(const ComplexCsrView& A);
/// A with columns ascending and entries of one place summed.
ComplexCsrMatrix canonical(const ComplexCsrView& A);

}  // namespace kasane::sparse
