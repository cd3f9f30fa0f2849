// kind_of(): reads each entry of a matrix a few times, before a method is chosen.
#include <kasane/sparse/matrix/findings.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/matrix/matching.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace kasane::sparse {
namespace {

std::size_t of(index_t i) { return static_cast<std::size_t>(i); }

/// Rows and columns without an entry other than zero, and zeros on the diagonal.
struct Zeros {
    detail::Offence row, column;
    index_t diagonals = 0;

    void merge(const Zeros& more) {
        row.merge(more.row), column.merge(more.column);
        diagonals += more.diagonals;
    }
};

Zeros find_zeros(const CsrView& A) {
    std::vector<char> column_used(of(A.n), 0);
    auto zeros = detail::merged_over_rows<Zeros>(A.n, [&](index_t i, Zeros& mine) {
        bool used = false;
        double diagonal = 0;
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            if (A.column(e) == i) diagonal += A.value[e];
            if (A.value[e] == 0) continue;
            used = true;
            std::atomic_ref(column_used[of(A.column(e))]).store(1, std::memory_order_relaxed);
        }
        if (!used) mine.row.see(i, 0);
        mine.diagonals += diagonal == 0;
    });
    for (index_t j = 0; j < A.n; ++j)
        if (!column_used[of(j)]) zeros.column.see(0, j);
    return zeros;
}

/// Whether every minor a_ii a_jj - a_ij^2 of a symmetric matrix with a positive diagonal is positive, or zero up to rounding.
bool minors_positive(const CsrView& A) {
    std::vector<double> root(of(A.n), 0.);
    parallel_for(Cpu{}, A.n, [&](index_t i) {
        for (index_t e = A.begin(i); e < A.end(i); ++e)
            if (A.column(e) == i) root[of(i)] += A.value[e];
        root[of(i)] = std::sqrt(root[of(i)]);
    });
    std::atomic<bool> positive{true};
    parallel_for(Cpu{}, A.n, [&](index_t i) {
        for (index_t e = A.begin(i); e < A.end(i); ++e)
            if (A.column(e) != i && std::fabs(A.value[e]) > (1 + 1e-12) * root[of(i)] * root[of(A.column(e))]) positive = false;
    });
    return positive;
}

}  // namespace

MatrixKind kind_of(const CsrView& A, const std::string& source) {
    detail::Problems problems(source);
    detail::check_size(A, problems);
    const auto rows = detail::look_at_rows(A);
    problems.add(rows.out_of_range, fmt::format("row {} has a column index {}{}: in memory they go from 0 to {}", rows.out_of_range.row + 1,
                                                rows.out_of_range.column, rows.out_of_range.others(), A.n - 1));
    problems.add(rows.not_finite, fmt::format("entry {} is {}{}: every value must be a finite number", rows.not_finite.place(),
                                              rows.not_finite.value, rows.not_finite.others()));
    problems.throw_if_any();

    CsrMatrix copy;
    CsrView sorted = A;
    if (!rows.sorted || rows.duplicates > 0) copy = canonical(A), sorted = copy.view();
    const auto zeros = find_zeros(sorted);
    problems.add(zeros.row, fmt::format("row {} has no entry other than zero{}: the matrix is singular. Was an equation left out?",
                                        zeros.row.row + 1, zeros.row.others()));
    problems.add(zeros.column, fmt::format("column {} has no entry other than zero{}: no equation contains this unknown, and the matrix is "
                                           "singular. Remove the unknown, or give it an equation",
                                           zeros.column.column + 1, zeros.column.others()));
    problems.throw_if_any();

    MatrixKind kind;
    kind.rows = A.n;
    kind.nonzeros = A.begin(A.n);
    kind.sorted = rows.sorted;
    kind.duplicates = kind.nonzeros != sorted.begin(A.n);
    kind.zero_diagonals = zeros.diagonals;
    if (zeros.diagonals > 0) {
        kind.row = detail::match_rows(sorted);
        const auto unmatched = std::count(kind.row.begin(), kind.row.end(), -1);
        if (unmatched > 0)
            problems.add(fmt::format(
                "is structurally singular: for any values of its entries its rank is at most {} of {}; for instance, no equation is "
                "left for the unknown of column {} when the other unknowns have one each. Check the equations of that unknown",
                A.n - unmatched, A.n, std::find(kind.row.begin(), kind.row.end(), -1) - kind.row.begin() + 1));
        problems.throw_if_any();
    }
    const auto pairs = detail::look_at_pairs(sorted);
    kind.symmetric = pairs.pattern.count == 0 && pairs.value.count == 0;
    if (pairs.pattern.count > 0)
        kind.asymmetry = fmt::format("entry {} = {} has no partner ({}, {})", pairs.pattern.place(), pairs.pattern.value,
                                     pairs.pattern.column + 1, pairs.pattern.row + 1);
    else if (pairs.value.count > 0)
        kind.asymmetry = fmt::format("entries {} = {} and ({}, {}) = {} differ", pairs.value.place(), pairs.value.value,
                                     pairs.value.column + 1, pairs.value.row + 1, pairs.value.other);
    kind.positive = kind.symmetric && rows.no_diagonal.count == 0 && rows.not_positive.count == 0 && minors_positive(sorted);
    if (kind.positive) kind.facts = detail::facts_of(A, rows, sorted, ComponentsOf::singular);
    return kind;
}

}  // namespace kasane::sparse
