// Incomplete LU factorisation with a threshold and a limit of fill-in for each row, on the host.     [Saad 1994; Saad 2003, algorithm 10.6]
// Invariants: the factors depend on A and the options alone; columns ascend in rows; every pivot is finite where A is.
#pragma once

#include <kasane/sparse/precondition/threshold.hpp>

namespace kasane::sparse {

struct ThresholdLu {
    HostTriangle lower;  ///< its diagonal is 1
    HostTriangle upper;
    index_t replaced = 0;  ///< pivots below 1e-8 of the largest entry of A's row, replaced by that
};

/// @param A      canonical   @param shift  the diagonal is shifted away from zero by that part of the largest entry of each row
ThresholdLu threshold_lu(const CsrView& A, const ThresholdOptions& options, double shift);

}  // namespace kasane::sparse
