#include <kasane/core/base/error.hpp>
#include <kasane/sparse/precondition/factor_places.hpp>
#include <kasane/sparse/precondition/growing_columns.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace kasane::sparse {
namespace {

std::size_t slot_of(index_t i) { return static_cast<std::size_t>(i); }

/// The levels of the places of one row.
class RowLevels {
   public:
    /// @param most  levels above are not kept; places below it make others
    RowLevels(index_t n, int most) : most_(most), level_(slot_of(n), absent) {}

    void add(std::int32_t column, int level) {
        int& known = level_[slot_of(column)];
        if (level > most_ || level >= known) return;
        if (known == absent) places_.push_back(column);
        if (level < most_ && known >= most_) makes_others_.push(column);
        known = level;
    }
    /// The smallest place that makes others and was not returned; -1: none is left.
    std::int32_t next() {
        if (makes_others_.empty()) return -1;
        const auto column = makes_others_.top();
        makes_others_.pop();
        return column;
    }
    int operator[](std::int32_t column) const { return level_[slot_of(column)]; }
    /// The places, ascending.
    const std::vector<std::int32_t>& places() {
        std::ranges::sort(places_);
        return places_;
    }
    void clear() {
        for (const auto place : places_) level_[slot_of(place)] = absent;
        places_.clear();
    }

   private:
    static constexpr int absent = std::numeric_limits<int>::max();
    int most_;
    std::vector<int> level_;
    std::vector<std::int32_t> places_;
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> makes_others_;
};

}  // namespace

FactorPlaces places_of_levels(const CsrView& A, int most, const PlacesLimit& limit) {
    FactorPlaces out;
    out.begin.assign(1, 0);
    out.begin.reserve(slot_of(A.n) + 1);
    RowLevels row(A.n, most);
    GrowingColumns columns(A.n);  // of the places below level `most` alone: no other makes places
    std::vector<int> level_of;    // of the entries of `columns`
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(A.n); ++i) {
        if (limit.check_stop && i % 1024 == 0) limit.check_stop();
        for (index_t e = A.begin(i); e < A.end(i) && A.column(e) < i; ++e) row.add(static_cast<std::int32_t>(A.column(e)), 0);
        for (auto k = row.next(); k >= 0; k = row.next())
            columns.each(k, [&](std::int32_t other, index_t e) { row.add(other, row[k] + level_of[slot_of(e)] + 1); });
        for (const auto place : row.places()) {
            out.column.push_back(place);
            if (row[place] >= most) continue;
            columns.add(i, place, static_cast<index_t>(level_of.size()));
            level_of.push_back(row[place]);
        }
        out.begin.push_back(static_cast<index_t>(out.column.size()));
        row.clear();
        KS_VALIDATE(out.begin.back() <= limit.entries,
                    fmt::format("ick, level = {}: the first {} of {} rows of the factor have {} entries already, {:.1f} times those of "
                                "the matrix there, and the whole would not fit in the memory. Take a lower level, ict, which limits "
                                "the entries of a row, or multigrid.",
                                most, i + 1, A.n, out.begin.back(),
                                static_cast<double>(out.begin.back()) / std::max(1., static_cast<double>(A.begin(i + 1)) / 2)));
    }
    return out;
}

}  // namespace kasane::sparse
