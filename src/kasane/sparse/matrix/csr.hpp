// Matrices in compressed rows: CsrView refers to the caller's arrays, CsrMatrix owns its arrays, check() tests whether they can be
// solved.
// Invariants: indices are 0-based; offsets and columns may be 32 or 64 bits wide; a view never copies and never frees.
#pragma once

#include <kasane/core/base/types.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kasane::sparse {

/// A square matrix in compressed rows, in the memory of the caller (host or device).
struct CsrView {
    index_t n = 0;                           ///< rows and columns
    const std::int32_t* begin32 = nullptr;   ///< [n + 1] first entry of each row; this or begin64
    const std::int64_t* begin64 = nullptr;   ///< [n + 1] as begin32
    const std::int32_t* column32 = nullptr;  ///< [nonzeros] this or column64
    const std::int64_t* column64 = nullptr;  ///< [nonzeros] as column32
    const double* value = nullptr;           ///< [nonzeros]

    /// No matrix.
    CsrView() = default;
    /// Refers to arrays of 32- or 64-bit integers and doubles.
    /// @param rows       n
    /// @param row_begin  [n + 1] first entry of each row, and their number
    /// @param columns    [row_begin[n]] 0-based
    /// @param values     [row_begin[n]]
    template <std::signed_integral Offset, std::signed_integral Column>
    CsrView(index_t rows, const Offset* row_begin, const Column* columns, const double* values) : n(rows), value(values) {
        if constexpr (sizeof(Offset) == 4)
            begin32 = reinterpret_cast<const std::int32_t*>(row_begin);
        else
            begin64 = reinterpret_cast<const std::int64_t*>(row_begin);
        if constexpr (sizeof(Column) == 4)
            column32 = reinterpret_cast<const std::int32_t*>(columns);
        else
            column64 = reinterpret_cast<const std::int64_t*>(columns);
    }
    /// First entry of a row.
    KS_FN index_t begin(index_t row) const { return begin32 ? begin32[row] : begin64[row]; }
    /// One after the last entry of a row.
    KS_FN index_t end(index_t row) const { return begin(row + 1); }
    /// Column of an entry.
    KS_FN index_t column(index_t entry) const { return column32 ? column32[entry] : column64[entry]; }
};

/// A square matrix in compressed rows that owns its arrays, on the host.
struct CsrMatrix {
    std::vector<index_t> begin;        ///< [n + 1]
    std::vector<std::int32_t> column;  ///< [nonzeros] ascending inside a row when canonical
    std::vector<double> value;         ///< [nonzeros]
    /// Rows and columns.
    index_t rows() const { return begin.empty() ? 0 : static_cast<index_t>(begin.size()) - 1; }
    /// Entries.
    index_t nonzeros() const { return begin.empty() ? 0 : begin.back(); }
    /// The matrix without ownership; valid as long as the arrays are.
    CsrView view() const { return {rows(), begin.data(), column.data(), value.data()}; }
};

/// Largest number of rows of a matrix: columns are stored in 32 bits.
inline constexpr index_t most_rows = std::numeric_limits<std::int32_t>::max();

/// Properties of a matrix that passed check().
struct MatrixFacts {
    index_t rows = 0;         ///< and columns
    index_t nonzeros = 0;     ///< entries, duplicates counted
    index_t longest_row = 0;  ///< entries
    double shifted_rows = 0;  ///< about the share of rows whose columns are those of the row before plus one, as on a grid
    bool sorted = true;       ///< columns ascend in every row
    index_t duplicates = 0;   ///< entries beyond the first of their place
    index_t components = 1;   ///< of the graph
    /// Every row sums to zero (to rounding) and no off-diagonal entry is positive: constants on a component are the null space.
    bool singular = false;
    std::vector<std::int32_t> component;  ///< [rows] of each row; only where singular and components > 1
};

/// Which matrices have their components counted: all, or singular ones, whose null space depends on them.
enum class ComponentsOf { all, singular };

/// Tests in one pass over the entries whether A can be symmetric positive definite.
/// @param A      in host memory   @param source named in messages: a file, or "the matrix"
/// @param components_of  MatrixFacts::components is 1 where they are not counted
/// @throws InputError, all kinds of problem at once, the first of each kind with its 1-based row and column: no rows; too many rows;
///   offsets that fall or do not begin at zero; a column out of range; a value that is NaN or infinite; a row without a diagonal entry;
///   a diagonal entry that is zero or negative; a pattern or a value that is not symmetric (values: beyond 1e-12 of the larger, and
///   beyond rounding of the diagonal's size, 4 epsilon sqrt(a_ii a_jj), which remains where the terms of an entry cancel).
/// Cost: a few passes over the entries, and a bisection for the mirror image of each; 4 bytes per row of memory, a copy where rows do
/// not ascend.
MatrixFacts check(const CsrView& A, const std::string& source = "the matrix", ComponentsOf components_of = ComponentsOf::all);

/// A with columns ascending and entries of one place summed.
CsrMatrix canonical(const CsrView& A);

}  // namespace kasane::sparse
