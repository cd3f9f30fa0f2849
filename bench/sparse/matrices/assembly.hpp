// Sums entries (row, column, value), such as those of element matrices, into a matrix.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <vector>

namespace kasane::bench {

class Assembly {
   public:
    explicit Assembly(index_t rows) : begin_(static_cast<std::size_t>(rows) + 1, 0) {}
    void add(index_t row, index_t column, double value) {
        ++begin_[static_cast<std::size_t>(row) + 1];
        entry_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
    }
    /// Adds value to the diagonal entries of both rows and subtracts it from the entries between them.
    void add_spring(index_t i, index_t j, double value) { add(i, i, value), add(j, j, value), add(i, j, -value), add(j, i, -value); }
    /// Columns ascend; entries of one place are added in the order in which they came.
    sparse::CsrMatrix matrix() const {
        sparse::CsrMatrix sorted;
        sorted.begin = begin_;
        for (std::size_t i = 1; i < sorted.begin.size(); ++i) sorted.begin[i] += sorted.begin[i - 1];
        sorted.column.resize(entry_.size());
        sorted.value.resize(entry_.size());
        auto next = sorted.begin;
        for (const auto& entry : entry_) {
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(entry.row)]++);
            sorted.column[at] = entry.column;
            sorted.value[at] = entry.value;
        }
        return canonical(sorted.view());
    }

   private:
    struct Entry {
        std::int32_t row, column;
        double value;
    };
    std::vector<index_t> begin_;
    std::vector<Entry> entry_;
};

}  // namespace kasane::bench
