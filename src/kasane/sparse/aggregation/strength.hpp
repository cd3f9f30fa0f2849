// Strength of connection.                                                                             [Vanek, Mandel & Brezina 1996,
// section 4] Matrices have a diagonal of 1 (or of 0, where a row is empty). An entry is strong where its size is at least `threshold` times
// that of the largest one beside the diagonal in one of its two rows; rows whose other entries sum to less than `dominance` have no strong
// entry: the smoother solves for them.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

namespace kasane::sparse {

struct Strength {
    float threshold = 0.25f;
    float dominance = 0.2f;
};

/// Returns 1 for each entry of A that is strong and 0 for the others, also on the diagonal.
template <class V, Space S>
Buffer<std::uint8_t, S> strong_entries(S on, const RowsView<V>& A, const Strength& strength);

/// The norms of the blocks of A between nodes of that many neighbouring rows, divided by the roots of those of the diagonal blocks.
template <class V, Space S>
Rows<V, S> block_norms(S on, const RowsView<V>& A, int rows_per_node);

/// Bound of the largest eigenvalue: the largest sum of |a_ij| in a row.                                                     [Gershgorin]
template <class V, Space S>
double row_sum_bound(S on, const RowsView<V>& A);

}  // namespace kasane::sparse
