#include <kasane/sparse/matrix/matching.hpp>

#include <cmath>
#include <limits>

namespace kasane::sparse::detail {
namespace {

constexpr std::int32_t none = -1;
constexpr std::int32_t unreached = std::numeric_limits<std::int32_t>::max();

class Matching {
   public:
    explicit Matching(const CsrView& A) : A_(A), row_of_(size(), none), column_of_(size(), none), level_(size()), next_(size()) {
        match_diagonal();
        match_largest();
        while (find_levels())
            for (index_t row = 0; row < A_.n; ++row)
                if (column_of_[at(row)] == none) augment(static_cast<std::int32_t>(row));
    }
    std::vector<std::int32_t> take() { return std::move(row_of_); }

   private:
    static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
    std::size_t size() const { return at(A_.n); }

    void match(index_t row, index_t column) {
        row_of_[at(column)] = static_cast<std::int32_t>(row);
        column_of_[at(row)] = static_cast<std::int32_t>(column);
    }
    void match_diagonal() {
        for (index_t row = 0; row < A_.n; ++row)
            for (index_t e = A_.begin(row); e < A_.end(row); ++e)
                if (A_.column(e) == row && A_.value[e] != 0) match(row, row);
    }
    void match_largest() {
        for (index_t row = 0; row < A_.n; ++row) {
            if (column_of_[at(row)] != none) continue;
            double largest = 0;
            index_t best = none;
            for (index_t e = A_.begin(row); e < A_.end(row); ++e)
                if (const double size = std::fabs(A_.value[e]); size > largest && row_of_[at(A_.column(e))] == none)
                    largest = size, best = A_.column(e);
            if (best != none) match(row, best);
        }
    }

    /// Distances of rows from the unmatched ones along alternating paths; false where no path ends at a free column.
    bool find_levels() {
        std::vector<std::int32_t> queue;
        for (index_t row = 0; row < A_.n; ++row) {
            const bool free = column_of_[at(row)] == none;
            level_[at(row)] = free ? 0 : unreached;
            next_[at(row)] = A_.begin(row);
            if (free) queue.push_back(static_cast<std::int32_t>(row));
        }
        bool found = false;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const auto row = queue[head];
            for (index_t e = A_.begin(row); e < A_.end(row); ++e) {
                if (A_.value[e] == 0) continue;
                const auto owner = row_of_[at(A_.column(e))];
                if (owner == none) {
                    found = true;
                } else if (level_[at(owner)] == unreached) {
                    level_[at(owner)] = level_[at(row)] + 1;
                    queue.push_back(owner);
                }
            }
        }
        return found;
    }

    /// Searches a path from an unmatched row to a free column along ascending levels, and turns it around.
    void augment(std::int32_t start) {
        path_.assign(1, start);
        while (!path_.empty()) {
            const auto row = path_.back();
            auto& e = next_[at(row)];
            std::int32_t owner = none;
            bool usable = false;
            for (; e < A_.end(row) && !usable; e += !usable) {
                if (A_.value[e] == 0) continue;
                owner = row_of_[at(A_.column(e))];
                usable = owner == none || level_[at(owner)] == level_[at(row)] + 1;
            }
            if (!usable) {
                level_[at(row)] = unreached;  // a dead end for later searches of this phase
                path_.pop_back();
                if (!path_.empty()) ++next_[at(path_.back())];
            } else if (owner != none) {
                path_.push_back(owner);
            } else {
                for (const auto member : path_) match(member, A_.column(next_[at(member)]));
                return;
            }
        }
    }

    CsrView A_;
    std::vector<std::int32_t> row_of_, column_of_, level_, path_;
    std::vector<index_t> next_;
};

}  // namespace

std::vector<std::int32_t> match_rows(const CsrView& A) { return Matching(A).take(); }

}  // namespace kasane::sparse::detail
