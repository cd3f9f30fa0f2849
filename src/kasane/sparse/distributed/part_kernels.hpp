// Kernels on the vectors of one worker's part: received numbers joined to own ones, and their terms of a product.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

#include <cstdint>

namespace kasane::sparse {

/// to[k] is the number from[k] of x followed by `more`.
template <Space S>
void gather(S on, View<const double> x, View<const double> more, View<const std::int32_t> from, View<double> to);

/// y[row[k]] += (A x)[k]; no row occurs twice.
template <Space S>
void add_product(S on, const RowsView<double>& A, View<const std::int32_t> row, View<const double> x, View<double> y);

}  // namespace kasane::sparse
