// Kernels on the vectors of one worker's part: received numbers joined to own ones, and their terms of a product.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/general/number.hpp>

#include <cstdint>

namespace kasane::sparse {

/// to[k] is the number from[k] of x followed by `more`. @tparam T  double or ComplexNumber, here and below
template <Space S, class T>
void gather(S on, View<const T> x, View<const T> more, View<const std::int32_t> from, View<T> to);

/// y[row[k]] += (A x)[k]; no row occurs twice.
template <Space S, class T>
void add_product(S on, const RowsView<T>& A, View<const std::int32_t> row, View<const T> x, View<T> y);

}  // namespace kasane::sparse
