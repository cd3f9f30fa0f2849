// check(): reads each entry of a matrix once, before anything is built from it.
// Invariants: offsets are checked before use as positions, columns before use as rows; beside a matrix of ascending rows it
// takes 4 bytes per row where components are counted, and no memory otherwise; the first problem that is reported does not depend on
// threads.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/matrix/findings.hpp>
#include <kasane/sparse/matrix/samples.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace kasane::sparse {
namespace detail {

void check_size(const CsrView& A, Problems& problems) {
    if (A.n <= 0) problems.add("is empty: it has no rows, and there is nothing to solve");
    if (A.n > most_rows)
        problems.add(fmt::format("has {} rows, and at most {} can be: columns are stored in 32 bits. Split the system", A.n, most_rows));
    if (A.n > 0 && !A.begin32 && !A.begin64) problems.add("has no row offsets: the pointer is null");
    problems.throw_if_any();
    if (A.begin(0) != 0) problems.add(fmt::format("has row offsets that begin at {}: the first must be 0", A.begin(0)));
    const auto falls = merged_over_rows<Offence>(A.n, [&](index_t row, Offence& mine) {
        if (A.end(row) < A.begin(row)) mine.see(row, 0, static_cast<double>(A.begin(row)), static_cast<double>(A.end(row)));
    });
    problems.add(falls,
                 fmt::format("has row offsets that fall, at row {} from {} to {}{}: row i holds the entries from offset i up to offset "
                             "i + 1, so they must ascend; 32-bit offsets fall where a matrix has more than 2^31 - 1 entries",
                             falls.row + 1, falls.value, falls.other, falls.others()));
    problems.throw_if_any();
    const auto nonzeros = A.begin(A.n);
    if (nonzeros > 0 && ((!A.column32 && !A.column64) || !A.value)) problems.add("has no columns or no values: the pointer is null");
    problems.throw_if_any();
}

}  // namespace detail

namespace {

using namespace detail;

void look_at_row(const CsrView& A, index_t row, Rows& found) {
    const auto first = A.begin(row), last = A.end(row);
    found.longest = std::max(found.longest, last - first);
    double diagonal = 0, sum = 0, sum_of_sizes = 0, place = 0;
    bool has_diagonal = false, all_finite = true;
    index_t before = -1;
    const auto leave_place = [&] {
        if (before != row && place > 0) found.zero_sums = false;
        place = 0;
    };
    for (auto k = first; k < last; ++k) {
        const auto column = A.column(k);
        const auto value = A.value[k];
        if (column < 0 || column >= A.n) {
            found.out_of_range.see(row, column);
            continue;
        }
        if (!std::isfinite(value)) found.not_finite.see(row, column, value), all_finite = false;
        if (column == row) diagonal += value, has_diagonal = true;
        if (column < before) found.sorted = false;
        if (column == before)
            ++found.duplicates;
        else
            leave_place();
        before = column;
        place += value;
        sum += value;
        sum_of_sizes += std::abs(value);
    }
    leave_place();
    if (!has_diagonal)
        found.no_diagonal.see(row, row);
    else if (all_finite && !std::isfinite(diagonal))
        found.not_finite.see(row, row, diagonal);
    else if (all_finite && !(diagonal > 0))
        found.not_positive.see(row, row, diagonal);
    // Half of it for the rounding of this sum, half for that of the diagonal, which was summed from the other entries.
    const double rounding = static_cast<double>(last - first) * std::numeric_limits<double>::epsilon() * sum_of_sizes;
    if (!(std::abs(sum) <= rounding)) found.zero_sums = false;
}

}  // namespace

detail::Rows detail::look_at_rows(const CsrView& A) {
    return merged_over_rows<Rows>(A.n, [&](index_t row, Rows& mine) { look_at_row(A, row, mine); });
}

namespace {

/// Sum of the entries of one place of a matrix with ascending columns; nothing where there are none.
std::optional<double> at(const CsrView& A, index_t row, index_t column) {
    auto first = A.begin(row), last = A.end(row);
    while (last - first > 8) {
        const auto middle = first + (last - first) / 2;
        if (A.column(middle) < column)
            first = middle + 1;
        else
            last = middle + 1;  // the diagonal entry stays inside
    }
    while (first < last && A.column(first) < column) ++first;
    const auto end = A.end(row);
    if (first == end || A.column(first) != column) return std::nullopt;
    double sum = 0;
    for (; first < end && A.column(first) == column; ++first) sum += A.value[first];
    return sum;
}

/// Whether |a - b| exceeds 1e-12 of the larger and the rounding of sums that cancelled, for which the diagonal gives the scale.
bool differ(const CsrView& A, index_t row, index_t column, double a, double b) {
    const double difference = std::abs(a - b);
    if (difference <= 1e-12 * std::max(std::abs(a), std::abs(b)) || !std::isfinite(a) || !std::isfinite(b)) return false;
    const double scale = std::sqrt(std::abs(at(A, row, row).value_or(0))) * std::sqrt(std::abs(at(A, column, column).value_or(0)));
    return !(difference <= 4 * std::numeric_limits<double>::epsilon() * scale);
}

}  // namespace

detail::Symmetry detail::look_at_pairs(const CsrView& A) {
    const auto sweep = [&](bool lower_look) {
        return merged_over_rows<Symmetry>(A.n, [&](index_t row, Symmetry& mine) {
            const auto end = A.end(row);
            for (auto k = A.begin(row); k < end;) {
                const auto column = A.column(k);
                double value = 0;
                for (; k < end && A.column(k) == column; ++k) value += A.value[k];
                if (column == row) continue;
                ++(column < row ? mine.lower : mine.upper);
                if (lower_look != (column < row)) continue;
                const auto partner = at(A, column, row);
                if (!partner)
                    mine.pattern.see(row, column, value);
                else if (!lower_look && differ(A, row, column, value, *partner))
                    mine.value.see(row, column, value, *partner);
            }
        });
    };
    auto found = sweep(false);
    if (found.pattern.count > 0 || found.lower != found.upper) found.pattern.merge(sweep(true).pattern);
    return found;
}

namespace {

/// Joins the sets of both rows; parents have smaller numbers, so a root is the first row of its component.
class Sets {
   public:
    explicit Sets(index_t n) : parent_(static_cast<std::size_t>(n)) {
        parallel_for(Cpu{}, n, [&](index_t i) { parent_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i); });
    }
    void join(std::int32_t a, std::int32_t b) {
        for (;;) {
            a = root(a), b = root(b);
            if (a == b) return;
            if (a < b) std::swap(a, b);
            auto expected = a;
            if (parent(a).compare_exchange_weak(expected, b, std::memory_order_relaxed)) return;
        }
    }
    /// Numbers the sets in the order of their first rows. @returns how many there are; the numbers are in `labels`
    index_t number(std::vector<std::int32_t>& labels) {
        std::int32_t sets = 0;
        for (std::size_t i = 0; i < parent_.size(); ++i) {
            const auto up = static_cast<std::size_t>(parent_[i]);
            parent_[i] = up == i ? sets++ : parent_[up];  // smaller rows have their number already
        }
        labels = std::move(parent_);
        return sets;
    }

   private:
    std::atomic_ref<std::int32_t> parent(std::int32_t i) { return std::atomic_ref<std::int32_t>(parent_[static_cast<std::size_t>(i)]); }
    std::int32_t root(std::int32_t i) {
        for (;;) {
            const auto up = parent(i).load(std::memory_order_relaxed);
            if (up == i) return i;
            const auto above = parent(up).load(std::memory_order_relaxed);
            if (above != up) parent(i).store(above, std::memory_order_relaxed);  // an ancestor stays one, whatever other threads write
            i = above;
        }
    }
    std::vector<std::int32_t> parent_;
};

index_t components(const CsrView& A, std::vector<std::int32_t>& labels) {
    Sets sets(A.n);
    parallel_for(Cpu{}, A.n, [&](index_t row) {
        for (auto k = A.begin(row); k < A.end(row); ++k)
            if (A.column(k) < row) sets.join(static_cast<std::int32_t>(row), static_cast<std::int32_t>(A.column(k)));
    });
    return sets.number(labels);
}

void report(const Rows& rows, const CsrView& A, Problems& problems) {
    const auto& [longest, duplicates, sorted, zero_sums, out_of_range, not_finite, no_diagonal, not_positive] = rows;
    problems.add(out_of_range, fmt::format("row {} has a column index {}{}: in memory they go from 0 to {}", out_of_range.row + 1,
                                           out_of_range.column, out_of_range.others(), A.n - 1));
    problems.add(not_finite, fmt::format("entry {} is {}{}: every value must be a finite number", not_finite.place(), not_finite.value,
                                         not_finite.others()));
    problems.add(no_diagonal, fmt::format("row {} has no diagonal entry{}: a positive definite matrix has a positive one in every row. "
                                          "Was a row left out, or a boundary condition applied by emptying it?",
                                          no_diagonal.row + 1, no_diagonal.others()));
    problems.add(not_positive, fmt::format("the diagonal entry of row {} is {}{}: a positive definite matrix has positive ones only. {}",
                                           not_positive.row + 1, not_positive.value, not_positive.others(),
                                           not_positive.count == A.n && not_positive.value < 0
                                               ? "All of them are negative: solve with the signs of matrix and right-hand side turned"
                                               : "Such a system is not for conjugate gradients"));
}

void report(const Symmetry& pairs, Problems& problems) {
    const auto& [lower, upper, pattern, value] = pairs;
    if (pattern.count > 0 && (lower == 0 || upper == 0)) {
        problems.add(
            fmt::format("holds its {} triangle only: entry {} = {} has no partner ({}, {}). Store both triangles; a Matrix Market "
                        "file of one triangle says 'symmetric' in its first line",
                        lower == 0 ? "upper" : "lower", pattern.place(), pattern.value, pattern.column + 1, pattern.row + 1));
    } else {
        problems.add(pattern,
                     fmt::format("entry {} = {} has no partner ({}, {}){}: the pattern is not symmetric, and conjugate gradients need "
                                 "a symmetric matrix",
                                 pattern.place(), pattern.value, pattern.column + 1, pattern.row + 1, pattern.others()));
    }
    problems.add(value,
                 fmt::format("entries {} = {} and ({}, {}) = {} differ by more than 1e-12 of the larger{}: conjugate gradients need a "
                             "symmetric matrix",
                             value.place(), value.value, value.column + 1, value.row + 1, value.other, value.others()));
}

}  // namespace

MatrixFacts detail::facts_of(const CsrView& A, const Rows& rows, const CsrView& sorted, ComponentsOf components_of) {
    MatrixFacts facts;
    facts.rows = A.n;
    facts.nonzeros = A.begin(A.n);
    facts.longest_row = rows.longest;
    facts.shifted_rows = share_of_shifted_rows(sorted);
    facts.sorted = rows.sorted;
    facts.duplicates = rows.sorted ? rows.duplicates : facts.nonzeros - sorted.begin(sorted.n);
    facts.singular = rows.sorted ? rows.zero_sums : look_at_rows(sorted).zero_sums;
    if (!facts.singular && components_of == ComponentsOf::singular) return facts;
    facts.components = components(sorted, facts.component);
    if (!facts.singular || facts.components == 1) facts.component = {};
    return facts;
}

MatrixFacts check(const CsrView& A, const std::string& source, ComponentsOf components_of) {
    Problems problems(source);
    check_size(A, problems);
    const auto rows = look_at_rows(A);
    report(rows, A, problems);
    if (rows.out_of_range.count > 0) problems.throw_if_any();

    // Partners are found by bisection: for rows that do not ascend, in a sorted copy.
    CsrMatrix copy;
    auto sorted = A;
    if (!rows.sorted) {
        copy = canonical(A);
        sorted = copy.view();
    }
    report(look_at_pairs(sorted), problems);
    problems.throw_if_any();
    return facts_of(A, rows, sorted, components_of);
}

}  // namespace kasane::sparse
