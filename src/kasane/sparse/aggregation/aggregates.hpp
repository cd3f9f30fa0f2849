// Divides the nodes of a graph into aggregates: a maximal set of roots that are more than two edges apart, each with its neighbours; the
// rest joins the neighbouring aggregate with the strongest connection.       [Bell, Dalton & Olson 2012; Kelley & Rajamanickam 2022]
// Priorities of nodes are a function of the node and the round, so that the result does not depend on threads.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

namespace kasane::sparse {

template <Space S>
struct Aggregates {
    Buffer<std::int32_t, S> of;  ///< [nodes] from 0 to count - 1; -1: in none
    index_t count = 0;
};

/// @param A       its values are the strengths
/// @param strong  [entries] whether an entry connects two different nodes; symmetric. A node without a connection is in no aggregate.
template <class V, Space S>
Aggregates<S> aggregated(S on, const RowsView<V>& A, View<const std::uint8_t> strong);

}  // namespace kasane::sparse
