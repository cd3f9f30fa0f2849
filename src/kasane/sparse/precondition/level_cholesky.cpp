#include <kasane/sparse/precondition/level_cholesky.hpp>

#include <kasane/sparse/precondition/growing_columns.hpp>
#include <kasane/sparse/precondition/positive_pivots.hpp>
#include <kasane/sparse/precondition/sparse_row.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kasane::sparse {
namespace {

std::size_t slot(index_t i) { return static_cast<std::size_t>(i); }

/// Nothing where a pivot is not positive.
std::optional<HostTriangle> factorised(const CsrView& A, int most, double shift) {
    HostTriangle out;
    auto& L = out.beside;
    L.begin.assign(1, 0);
    SparseRow row(A.n);
    GrowingColumns columns(A.n);
    std::vector<int> level(slot(A.n)), levels;  // of the row's columns; of the entries of L
    std::vector<std::int32_t> places;           // of the row, ascending
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(A.n); ++i) {
        row.begin(i);
        double diagonal = 0;
        const auto add = [&](std::int32_t column, double value, int of) {
            level[slot(column)] = row.contains(column) ? std::min(level[slot(column)], of) : of;
            row.add(column, value);
        };
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            const auto column = static_cast<std::int32_t>(A.column(e));
            if (column == i) diagonal = A.value[e];
            if (column < i) add(column, A.value[e], 0);
        }
        // First the places, because what a place receives counts whatever its level.
        places.clear();
        for (auto k = row.next(); k >= 0; k = row.next()) {
            places.push_back(k);
            columns.each(k, [&](std::int32_t other, index_t e) {
                const int filled = level[slot(k)] + levels[slot(e)] + 1;
                if (filled <= most) add(other, 0, filled);
            });
        }
        for (const auto k : places) {
            const double entry = row[k] *= out.inverse_diagonal[slot(k)];
            columns.each(k, [&](std::int32_t other, index_t e) {
                if (row.contains(other)) row[other] -= entry * L.value[slot(e)];
            });
        }
        if (!append_row(out, columns, row, i, A.n, diagonal, shift)) return {};
        for (auto e = levels.size(); e < L.column.size(); ++e) levels.push_back(level[slot(L.column[e])]);
    }
    return out;
}

}  // namespace

CholeskyFactor level_cholesky(const CsrView& A, int level) {
    return with_positive_pivots("ick", [&](double shift) { return factorised(A, level, shift); });
}

}  // namespace kasane::sparse
