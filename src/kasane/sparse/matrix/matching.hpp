// A maximum matching of rows and columns: a permutation of rows that leaves no zero on the diagonal, where there is one.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse::detail {

/// Matches as many columns as possible to rows that have an entry other than zero there.             [Hopcroft & Karp 1973]
/// Begins with the diagonal entries, then with the largest entry of each row whose column is free, so that a nonzero diagonal stays.
/// Cost: entries times the square root of the rows at most.
/// @param A  checked   @return [rows] the row of each column; -1: the column is not matched
std::vector<std::int32_t> match_rows(const CsrView& A);

}  // namespace kasane::sparse::detail
