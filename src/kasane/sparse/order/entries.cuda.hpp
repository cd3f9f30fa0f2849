// Loops over the entries of a matrix on a device.
// Invariant: a warp has 32 neighbouring rows, one for each lane; all lanes share a long row, so that no lane delays the others.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

namespace kasane::sparse::device {

inline constexpr index_t long_row = 64;  ///< from this number of entries on, a row is shared

/// Calls each(row, first, last, step, shared): this lane has the entries first, first + step, ... below last of the row. All lanes call it
/// together where shared. All threads of the warp call this with the same `base`, a multiple of 32.
template <class Each>
__device__ void rows_of_warp(const CsrView& A, index_t base, const Each& each) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const index_t row = base + lane;
    index_t first = 0, last = 0;
    if (row < A.n) first = A.begin(row), last = A.end(row);
    const bool shared = last - first > long_row;
    if (row < A.n && !shared) each(row, first, last, index_t{1}, false);
    for (unsigned waiting = __ballot_sync(~0u, shared); waiting != 0; waiting &= waiting - 1) {
        const index_t its_row = base + (__ffs(static_cast<int>(waiting)) - 1);
        each(its_row, A.begin(its_row) + lane, A.end(its_row), index_t{32}, true);
    }
}

}  // namespace kasane::sparse::device
