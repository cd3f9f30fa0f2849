#include <kasane/sparse/precondition/growing_columns.hpp>
#include <kasane/sparse/precondition/positive_pivots.hpp>
#include <kasane/sparse/precondition/sparse_row.hpp>
#include <kasane/sparse/precondition/threshold_cholesky.hpp>

#include <cmath>
#include <optional>

namespace kasane::sparse {
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Nothing where a pivot is not positive.
std::optional<HostTriangle> factorised(const CsrView& A, const ThresholdOptions& options, double shift) {
    HostTriangle out;
    auto& L = out.beside;
    L.begin.assign(1, 0);
    SparseRow row(A.n);
    GrowingColumns columns(A.n);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(A.n); ++i) {
        row.begin(i);
        double diagonal = 0;
        index_t below = 0;
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            const auto column = static_cast<std::int32_t>(A.column(e));
            if (column == i) diagonal = A.value[e];
            if (column < i) row.add(column, A.value[e]), ++below;
        }
        const double least = options.tolerance * std::sqrt(diagonal);
        for (auto k = row.next(); k >= 0; k = row.next()) {
            const double entry = row[k] * out.inverse_diagonal[at(k)];
            row[k] = std::fabs(entry) < least ? 0 : entry;
            if (row[k] != 0) columns.each(k, [&](std::int32_t other, index_t e) { row.add(other, -entry * L.value[at(e)]); });
        }
        if (!append_row(out, columns, row, i, below + options.fill, diagonal, shift)) return {};
    }
    return out;
}

}  // namespace

CholeskyFactor threshold_cholesky(const CsrView& A, const ThresholdOptions& options) {
    return with_positive_pivots("ict", [&](double shift) { return factorised(A, options, shift); });
}

HostTriangle transposed(const HostTriangle& lower) {
    HostTriangle upper;
    const CsrMatrix& L = lower.beside;
    const auto n = at(L.rows());
    auto& U = upper.beside;
    U.begin.assign(n + 1, 0);
    for (const auto column : L.column) ++U.begin[at(column) + 1];
    for (std::size_t i = 0; i < n; ++i) U.begin[i + 1] += U.begin[i];
    U.column.resize(L.column.size()), U.value.resize(L.value.size());
    auto next = U.begin;
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = at(L.begin[i]); e < at(L.begin[i + 1]); ++e) {
            const auto to = at(next[at(L.column[e])]++);
            U.column[to] = static_cast<std::int32_t>(i), U.value[to] = L.value[e];
        }
    upper.inverse_diagonal = lower.inverse_diagonal;
    return upper;
}

}  // namespace kasane::sparse
