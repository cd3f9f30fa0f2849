// A row that elimination fills: a dense vector of values with the list of its places, and the selection of its largest entries.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace kasane::sparse {

class SparseRow {
   public:
    explicit SparseRow(index_t n) : value_(static_cast<std::size_t>(n), 0.), there_(static_cast<std::size_t>(n), 0) {}

    /// Begins a row: columns below `pivot` are visited by next().
    void begin(index_t pivot) { pivot_ = static_cast<std::int32_t>(pivot); }
    void add(std::int32_t column, double value) {
        const auto at = static_cast<std::size_t>(column);
        if (!there_[at]) {
            there_[at] = 1;
            value_[at] = 0;
            places_.push_back(column);
            if (column < pivot_) ahead_.push(column);
        }
        value_[at] += value;
    }
    /// Whether the row has this place.
    bool contains(std::int32_t column) const { return there_[static_cast<std::size_t>(column)] != 0; }
    double& operator[](std::int32_t column) { return value_[static_cast<std::size_t>(column)]; }
    /// The smallest column below the pivot that has not been visited; -1: none is left. Columns that are added later must exceed it.
    std::int32_t next() {
        if (ahead_.empty()) return -1;
        const auto column = ahead_.top();
        ahead_.pop();
        return column;
    }
    /// Appends the entries whose columns lie in [first, end) and whose size is above zero and at least `least`, the largest `most` of them,
    /// with ascending columns; of equal sizes the first stay.
    void append_largest(std::int32_t first, std::int32_t end, double least, index_t most, std::vector<std::int32_t>& column,
                        std::vector<double>& value) {
        kept_.clear();
        for (const auto place : places_) {
            const double size = std::fabs((*this)[place]);
            if (place >= first && place < end && size > 0 && size >= least) kept_.push_back(place);
        }
        if (static_cast<index_t>(kept_.size()) > most) {
            const auto larger = [&](std::int32_t a, std::int32_t b) {
                const double size_a = std::fabs((*this)[a]), size_b = std::fabs((*this)[b]);
                return size_a != size_b ? size_a > size_b : a < b;
            };
            std::nth_element(kept_.begin(), kept_.begin() + most, kept_.end(), larger);
            kept_.resize(static_cast<std::size_t>(most));
        }
        std::ranges::sort(kept_);
        for (const auto place : kept_) column.push_back(place), value.push_back((*this)[place]);
    }
    void clear() {
        for (const auto place : places_) there_[static_cast<std::size_t>(place)] = 0;
        places_.clear();
        while (!ahead_.empty()) ahead_.pop();
    }

   private:
    std::vector<double> value_;
    std::vector<char> there_;
    std::vector<std::int32_t> places_, kept_;
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ahead_;
    std::int32_t pivot_ = 0;
};

}  // namespace kasane::sparse
