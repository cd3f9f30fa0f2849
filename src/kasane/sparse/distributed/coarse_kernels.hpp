// Kernels of a coarse system: sums over aggregates, the product with its inverse, and the correction of all rows.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/base/types.hpp>
#include <kasane/sparse/general/number.hpp>

#include <cstdint>

namespace kasane::sparse {

/// sums[k] = the sum of x[i] for begin[k] <= e < begin[k + 1], where i = index[e], or e where there is no index.
/// @param weight  of complex numbers: conj(weight[i]) x[i] in place of x[i]; empty: x[i]   @tparam T  double or ComplexNumber, here and
/// below
template <Space S, class T>
void sum_segments(S on, View<const std::int32_t> begin, View<const std::int32_t> index, View<const T> weight, View<const T> x,
                  View<T> sums);

/// y[k] = the sum over c of transposed[c y.n + k] x[c].
template <Space S, class T>
void dense_times(S on, View<const T> transposed, View<const T> x, View<T> y);

/// x[i] += y[aggregate[i]], of complex numbers weight[i] y[aggregate[i]]
template <Space S, class T>
void add_to_aggregates(S on, View<const std::int32_t> aggregate, View<const T> weight, View<const T> y, View<T> x);

}  // namespace kasane::sparse
