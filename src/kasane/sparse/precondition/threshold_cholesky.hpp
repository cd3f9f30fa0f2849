// Incomplete Cholesky factorisation with a threshold and a limit of fill-in for each row, on the host.        [Saad 2003, section 10.8.3]
// Invariants: the factor depends on A and the options alone; columns ascend in rows; every pivot is positive, so that L L^T is.
#pragma once

#include <kasane/sparse/precondition/threshold.hpp>

namespace kasane::sparse {

/// Entries of L are dropped below the tolerance times the root of their row's diagonal entry of A, the norm of a row of the complete
/// factor: so L L^T differs from A by at most the tolerance times the root of a_ii a_jj where no limit of fill-in is met. Where a pivot
/// falls below 1e-10 of its diagonal entry, the factorisation begins again with the diagonal raised by 0.001, 0.002, 0.004,
/// ... of itself.                                                                                                       [Manteuffel 1980]
/// @param A  canonical, symmetric with a positive diagonal
/// @throws PreconditionError where even twice the diagonal does not help: A is far from positive definite
CholeskyFactor threshold_cholesky(const CsrView& A, const ThresholdOptions& options);

/// The transpose: an upper triangle.
HostTriangle transposed(const HostTriangle& lower);

}  // namespace kasane::sparse
