// Findings of check() and kind_of() in the entries of a matrix; several problems are collected into one InputError. Invariant: the first
// place of each kind of problem does not depend on threads.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse::detail {

/// One kind of problem: its count, and the first place in the order of rows and columns.
struct Offence {
    index_t count = 0, row = 0, column = 0;
    double value = 0, other = 0;

    void see(index_t i, index_t j, double a = 0, double b = 0) { merge({1, i, j, a, b}); }
    void merge(const Offence& later) {
        const bool first = later.count > 0 && (count == 0 || std::pair(later.row, later.column) < std::pair(row, column));
        const auto sum = count + later.count;
        if (first) *this = later;
        count = sum;
    }
    std::string others() const { return count > 1 ? fmt::format(" (the first of {} such places)", count) : std::string(); }
    /// "(3, 7)", 1-based.
    std::string place() const { return fmt::format("({}, {})", row + 1, column + 1); }
};

/// The findings of look(row, findings) for all rows; several threads have findings of their own, which are merged.
template <class Findings, class Look>
Findings merged_over_rows(index_t rows, const Look& look) {
    Findings all;
    std::mutex merging;
    for_each_range(Cpu{}, rows, [&](index_t row, index_t end) {
        Findings mine;
        for (; row < end; ++row) look(row, mine);
        const std::lock_guard lock(merging);
        all.merge(mine);
    });
    return all;
}

class Problems {
   public:
    explicit Problems(std::string source) : source_(std::move(source)) {}
    void add(const Offence& offence, const std::string& message) {
        if (offence.count > 0) problems_.push_back({message, {source_, 0, 0, ""}});
    }
    void add(const std::string& message) { problems_.push_back({message, {source_, 0, 0, ""}}); }
    void throw_if_any() const {
        if (!problems_.empty()) throw InputError(problems_);
    }

   private:
    std::string source_;
    std::vector<InputProblem> problems_;
};

/// Refuses sizes, offsets and null pointers that do not allow to read the entries. @throws InputError
void check_size(const CsrView& A, Problems& problems);

/// Findings in each row alone.
struct Rows {
    index_t longest = 0, duplicates = 0;
    bool sorted = true;
    bool zero_sums = true;  ///< every row sums to zero, and no off-diagonal place is positive
    Offence out_of_range, not_finite, no_diagonal, not_positive;

    void merge(const Rows& more) {
        longest = std::max(longest, more.longest);
        duplicates += more.duplicates;
        sorted = sorted && more.sorted;
        zero_sums = zero_sums && more.zero_sums;
        out_of_range.merge(more.out_of_range);
        not_finite.merge(more.not_finite);
        no_diagonal.merge(more.no_diagonal);
        not_positive.merge(more.not_positive);
    }
};

/// Reads every entry once.
Rows look_at_rows(const CsrView& A);

/// Facts of a matrix without a problem. @param rows  of A   @param sorted  A, or where its rows do not ascend its canonical form
MatrixFacts facts_of(const CsrView& A, const Rows& rows, const CsrView& sorted, ComponentsOf components_of);

struct Symmetry {
    index_t lower = 0, upper = 0;  ///< places
    Offence pattern, value;

    void merge(const Symmetry& more) {
        lower += more.lower;
        upper += more.upper;
        pattern.merge(more.pattern);
        value.merge(more.value);
    }
};

/// Every upper entry searches its lower partner. Where all have one and there are as many of both, the pattern is symmetric; otherwise the
/// lower ones search, too. @param A  columns ascend in every row
Symmetry look_at_pairs(const CsrView& A);

}  // namespace kasane::sparse::detail
