// The diagonal D of a preconditioner (D + C) D^-1 (D + C)^T, and C's values where they are not A's own.
// Invariants: D > 0; C has the pattern of A's lower triangle in the order of elimination: no fill.     [Meijerink & van der Vorst 1977]
#pragma once

#include <kasane/sparse/format/system.hpp>

namespace kasane::sparse {

struct FactorOptions {
    Precondition kind = Precondition::ic0;
    double omega = 1;  ///< of SSOR: D = diag(A) / omega
};

template <Space S>
struct Factor {
    FactorKind kind = FactorKind::identity;
    Buffer<double, S> pivot;    ///< [padded] D; 1 in padding
    Triangle<S, double> lower;  ///< C; own values only
    double shift = 0;           ///< relative, added to the diagonal so that D is positive
};

/// A permuted and split, with unchanged values.
template <Space S>
struct SplitMatrix {
    Buffer<double, S> diagonal;  ///< [padded] 1 in padding
    Triangle<S, double> lower, upper;
    Triangle<S, double> lower_rows;  ///< the lower triangle in compressed rows, for a factor with values of its own; else empty
};
/// @param A on S   @param triangles  whether has_triangles(A): lower_rows is made
template <Space S>
SplitMatrix<S> split(S on, const CsrView& A, const Layout<S>& layout, const Format& format, bool triangles);

/// Whether some row has two neighbours that are neighbours of each other: then IC(0) changes more than the diagonal.
/// @param A on S, columns ascending
template <Space S>
bool has_triangles(S on, const CsrView& A);

/// Row by row in the order of elimination; rows of a colour at once:                                         [Saad 2003, section 10.3]
///     c_ij = a_ij - sum_{k < j} c_ik c_jk / d_k,     d_i = a_ii - sum_j c_ij^2 / d_j.
/// In a graph without triangles the sum over k is empty and C is A's triangle. Where a pivot falls below 1e-10 of its diagonal entry, the
/// factorisation begins again with the diagonal raised by 0.001, 0.002, 0.004, ... of itself.                       [Manteuffel 1980]
/// @throws ComputationError when even twice the diagonal does not help (A is far from positive definite, or not finite)
template <Space S>
Factor<S> factorise(S on, const SplitMatrix<S>& A, const Layout<S>& layout, const FactorOptions& options);

/// Scales and stores all parts of the system.
template <Space S>
System<S> make_system(S on, SplitMatrix<S> A, Layout<S> layout, Factor<S> factor, bool single_factor);

}  // namespace kasane::sparse
