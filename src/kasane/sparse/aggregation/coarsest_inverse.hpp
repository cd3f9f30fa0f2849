// The inverse of the matrix of the coarsest level.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

namespace kasane::sparse {

/// [rows][rows], symmetric. Null directions as in dense_inverse(). On a device by one block in its shared memory where it fits (168 rows on
/// an H200; 145 rows take the host 0.7 ms with its copies), else on the host.
template <Space S>
Buffer<float, S> coarsest_inverse(S on, const Rows<float, S>& A);

}  // namespace kasane::sparse
