// Colours of the rows of a matrix: rows of one colour are not coupled, so that a sweep relaxes them at the same time.
// Invariant: the colours depend on the pattern alone, not on threads.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

#include <vector>

namespace kasane::sparse {

template <Space S>
struct RowColors {
    Buffer<std::int32_t, S> row;  ///< [rows] colour by colour, ascending in each
    std::vector<index_t> begin;   ///< [colours + 1] first place of each colour
    int count() const { return static_cast<int>(begin.size()) - 1; }
};

/// The greedy colouring in a random order of the rows, many rows at a time.                              [Jones & Plassmann 1993]
/// @param A  with a symmetric pattern
template <Space S>
RowColors<S> row_colors(S on, const RowsView<float>& A);

}  // namespace kasane::sparse
