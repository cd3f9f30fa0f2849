// Vectors between the user's numbers and the system's: permuted, scaled, padded; and sums over them.
// Invariants: sums are taken in a fixed order, whatever the threads.
#pragma once

#include <kasane/sparse/format/system.hpp>

namespace kasane::sparse {

/// to[new] = from[old] scale[new] unit (or / scale); 0 in padding.   @param from [rows]   @param to [padded]
template <Space S>
void into_system(S on, const Layout<S>& layout, View<const double> scale, bool divide, double unit, View<const double> from,
                 View<double> to);
/// to[old] = from[new] scale[new] unit.   @param from [padded]   @param to [rows]
template <Space S>
void out_of_system(S on, const Layout<S>& layout, View<const double> scale, double unit, View<const double> from, View<double> to);

struct VectorFacts {
    double largest = 0;  ///< |entry|
    bool finite = true;
};
template <Space S>
VectorFacts look_at(S on, View<const double> x);
/// Sum of (unit x_i - shift)^2.
template <Space S>
double sum_of_squares(S on, View<const double> x, double unit, double shift);
template <Space S>
double mean(S on, View<const double> x);
/// to = from - shift.
template <Space S>
void subtract(S on, View<const double> from, double shift, View<double> to);

}  // namespace kasane::sparse
