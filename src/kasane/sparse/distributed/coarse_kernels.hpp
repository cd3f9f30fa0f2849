// Kernels of a coarse system: sums over aggregates, the product with its inverse, and the correction of all rows.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/base/types.hpp>

#include <cstdint>

namespace kasane::sparse {

/// sums[k] = the sum of x[index[e]], or of x[e] where there is no index, for begin[k] <= e < begin[k + 1].
template <Space S>
void sum_segments(S on, View<const std::int32_t> begin, View<const std::int32_t> index, View<const double> x, View<double> sums);

/// y[k] = the sum over c of transposed[c y.n + k] x[c].
template <Space S>
void dense_times(S on, View<const double> transposed, View<const double> x, View<double> y);

/// x[i] += y[aggregate[i]]
template <Space S>
void add_to_aggregates(S on, View<const std::int32_t> aggregate, View<const double> y, View<double> x);

}  // namespace kasane::sparse
