// Properties that decide the method for a matrix: symmetry, sign, zero rows and diagonals, structural rank.
// Invariants: depends on the entries alone, not on threads; entries that are stored and zero count as absent.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

/// Properties of a square matrix that may be nonsymmetric or indefinite.
struct MatrixKind {
    index_t rows = 0;               ///< and columns
    index_t nonzeros = 0;           ///< entries, duplicates counted
    bool sorted = true;             ///< columns ascend in every row
    bool duplicates = false;        ///< whether some place has several entries
    bool symmetric = false;         ///< a_ij = a_ji, by the test of check()
    bool positive = false;          ///< symmetric, a_ii > 0 and a_ij^2 <= a_ii a_jj: the matrix may be positive definite
    std::string asymmetry;          ///< where it is not symmetric: "entries (1, 2) = 3 and (2, 1) = 4 differ"
    index_t zero_diagonals = 0;     ///< rows whose diagonal entry is absent or zero
    MatrixFacts facts;              ///< where positive: as check() returns them with ComponentsOf::singular
    std::vector<std::int32_t> row;  ///< [rows] row[i] has an entry in column i; empty where no diagonal entry is zero
};

/// Reads a matrix and finds its kind.
/// @param A  in host memory   @param source named in messages: a file, or "the matrix"
/// @throws InputError, all kinds of problem at once, the first of each kind with its 1-based row and column: no rows; too many rows;
///   offsets that fall or do not begin at zero; a column out of range; a value that is NaN or infinite; a row or a column without an entry
///   other than zero; a structurally singular matrix (no choice of the values of its entries makes it regular)
/// Cost: as check(); where diagonal entries are zero, a maximum matching of rows and columns besides.
MatrixKind kind_of(const CsrView& A, const std::string& source = "the matrix");

}  // namespace kasane::sparse
