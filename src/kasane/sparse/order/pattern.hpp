// The graph of a matrix: the couplings of rows, without values and diagonal.
// Invariants: the neighbours of a row ascend, each once, whatever the order of entries in the matrix, so that an ordering depends on the
// pattern alone; a canonical matrix is read in place, any other is copied.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse::detail {

class Pattern {
   public:
    /// @param A  checked: the pattern is symmetric; in host memory, which must outlive the Pattern
    explicit Pattern(const CsrView& A);
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    std::int32_t rows() const { return static_cast<std::int32_t>(graph_.n); }

    /// Calls f(neighbour) for each neighbour, ascending.
    template <class F>
    void each_neighbor(std::int32_t row, F f) const {
        const index_t end = graph_.end(row);
        for (index_t e = graph_.begin(row); e < end; ++e)
            if (const auto other = static_cast<std::int32_t>(graph_.column(e)); other != row) f(other);
    }
    index_t neighbors(std::int32_t row) const {
        index_t count = 0;
        each_neighbor(row, [&](std::int32_t) { ++count; });
        return count;
    }

   private:
    CsrView graph_;  ///< without values
    std::vector<index_t> begin_;
    std::vector<std::int32_t> column_;
};

}  // namespace kasane::sparse::detail
