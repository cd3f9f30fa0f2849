// Divides the rows of a matrix into aggregates: connected sets of neighbouring rows of about one size.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

struct RowAggregates {
    std::vector<std::int32_t> of;  ///< [rows] from 0 to count - 1
    index_t count = 0;
};

/// Grows one aggregate after the other by a breadth-first search among rows without one, and joins those that stay smaller than a quarter
/// to a neighbouring aggregate. @param A  square, with a symmetric pattern; its values are not read   @param most  aggregates, about
RowAggregates aggregates_of_rows(const CsrView& A, index_t most);

}  // namespace kasane::sparse
