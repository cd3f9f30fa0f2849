// A system ready for the iteration: A permuted, scaled and stored in two triangles, with its preconditioner.
// Every preconditioner of this module is M = (D + L) D^-1 (D + L)^T with a positive diagonal D. Scaled by s = D^-1/2 on both sides,
//     A' = s A s = L + diagonal + L^T,      M' = (1 + F)(1 + F)^T,
// where F is zero (none, Jacobi), A's own scaled lower triangle (SSOR; IC(0) of a graph without triangles), or has values of its own.
// Invariants: vectors of the iteration are [padded] in new numbers and zero in padding; x = s x', r = r' / s.
#pragma once

#include <kasane/sparse/format/triangle.hpp>

namespace kasane::sparse {

/// Values of F: zero, those of A's triangles, or others.
enum class FactorKind { identity, own_triangles_of_A, own_values };

/// The scaled system in the memory of a space.
template <Space S>
struct System {
    S on{};
    Layout<S> layout;
    Triangle<S, double> lower, upper;  ///< of A'
    FactorKind factor = FactorKind::identity;
    bool single_factor = false;                         ///< F is stored in float (also where it equals A's own triangles)
    Triangle<S, double> factor_lower, factor_upper;     ///< own values in double; empty otherwise
    Triangle<S, float> factor_lower_f, factor_upper_f;  ///< single_factor; empty otherwise
    Buffer<double, S> diagonal;                         ///< [padded] of A'; 1 in padding
    Buffer<double, S> scale;                            ///< [padded] s; 1 in padding
    std::uint64_t bytes() const;
};

}  // namespace kasane::sparse
