// The tentative prolongator: every near-null vector, cut at the borders of aggregates, and made orthonormal inside each of them.
//                                                                                                 [Vanek, Mandel & Brezina 1996, section 3]
#pragma once

#include <kasane/sparse/aggregation/aggregates.hpp>

namespace kasane::sparse {

template <class V, Space S>
struct Tentative {
    Rows<V, S> P;                   ///< [rows] x [vectors x aggregates], orthonormal columns; a column is 0 where vectors depend on others
    Buffer<double, S> coarse_null;  ///< [vectors x aggregates][vectors]: P times this are the near-null vectors
};

/// [rows][vectors]: the constant, cut into one vector for each row of a node.
template <Space S>
Buffer<double, S> constant_vectors(S on, index_t rows, int vectors);

/// @param null           [rows][vectors] near-null vectors, one after the other for each row   @param vectors  their number
/// @param rows_per_node  rows of a node of the graph that was aggregated
template <class V, Space S>
Tentative<V, S> tentative_prolongator(S on, const Aggregates<S>& aggregates, View<const double> null, int vectors, int rows_per_node);

}  // namespace kasane::sparse
