// The columns of a triangle that grows by rows, as elimination reads them.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// The columns of a triangle that grows by rows: lists of entries.
class GrowingColumns {
   public:
    explicit GrowingColumns(index_t n) : first_(static_cast<std::size_t>(n), -1), last_(static_cast<std::size_t>(n), -1) {}
    /// Entry number `entry` is the next one; it lies in that row and column.
    void add(std::int32_t row, std::int32_t column, index_t entry) {
        row_.push_back(row), next_.push_back(-1);
        (last_[slot(column)] < 0 ? first_[slot(column)] : next_[slot(last_[slot(column)])]) = entry;
        last_[slot(column)] = entry;
    }
    /// Calls visit(row, entry) for the entries of a column so far.
    template <class Visit>
    void each(std::int32_t column, Visit visit) const {
        for (index_t entry = first_[slot(column)]; entry >= 0; entry = next_[slot(entry)]) visit(row_[slot(entry)], entry);
    }

   private:
    static std::size_t slot(index_t i) { return static_cast<std::size_t>(i); }

    std::vector<index_t> first_, last_, next_;
    std::vector<std::int32_t> row_;
};

}  // namespace kasane::sparse
