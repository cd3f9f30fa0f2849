// Rows and columns scaled by powers of two, so that the largest entries of all rows and columns are of one size.
// Invariants: scaling does not round (entries below 2^-1022 of the largest in their row apart); a symmetric matrix stays symmetric.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

/// The scaled matrix has the entries 2^(row[i] + column[j]) a_ij.
struct Scaling {
    std::vector<int> row;     ///< [n] exponents
    std::vector<int> column;  ///< [n] exponents
    int row_spread = 0;       ///< exponent of the largest over the smallest of the rows' largest entries, before the scaling
    int column_spread = 0;    ///< the same of columns
    bool used = false;        ///< false: all exponents are zero
    /// Of the set-up of a system that was scaled.
    std::string note() const;
};

/// If the largest entries of rows or of columns differ by more than 8: scales both sides to geometric means of 1, then by the roots of
/// the largest entries until these are within a factor of 4 of 1.                                     [Curtis & Reid 1972; Ruiz 2001]
/// @param A  checked, no row or column is zero   @param wanted  false: all exponents are zero
Scaling scaling_of(const CsrView& A, bool symmetric, bool wanted);

}  // namespace kasane::sparse
