// Rows and pivots of an incomplete Cholesky factorisation, which is repeated with a larger diagonal until its pivots are positive.
#pragma once

#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/precondition/growing_columns.hpp>
#include <kasane/sparse/precondition/sparse_row.hpp>
#include <kasane/sparse/precondition/threshold.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kasane::sparse {

/// Appends row i to L: its largest entries, at most `most`, and the pivot that follows.
/// @param row  eliminated; cleared   @param diagonal  a_ii   @param shift  part of itself by which it is raised
/// @return false where the pivot is below 1e-10 of a_ii
inline bool append_row(HostTriangle& lower, GrowingColumns& columns, SparseRow& row, std::int32_t i, index_t most, double diagonal,
                       double shift) {
    auto& L = lower.beside;
    row.append_largest(0, i, 0, most, L.column, L.value);
    double pivot = diagonal * (1 + shift);
    for (auto e = L.begin.back(); e < static_cast<index_t>(L.column.size()); ++e) {
        columns.add(i, L.column[static_cast<std::size_t>(e)], e);
        pivot -= L.value[static_cast<std::size_t>(e)] * L.value[static_cast<std::size_t>(e)];
    }
    if (!(pivot > 1e-10 * diagonal)) return false;
    L.begin.push_back(static_cast<index_t>(L.column.size()));
    lower.inverse_diagonal.push_back(1 / std::sqrt(pivot));
    row.clear();
    return true;
}

/// @param factorise  from the part of itself by which the diagonal is raised to an optional<HostTriangle>; nothing where a pivot is not
/// positive   @param name  of the preconditioner, for the message
/// @throws PreconditionError where even twice the diagonal does not help
template <class Factorise>
CholeskyFactor with_positive_pivots(const char* name, const Factorise& factorise) {
    for (double shift = 0; shift < 2; shift = shift == 0 ? 1e-3 : 2 * shift)
        if (auto lower = factorise(shift)) return {std::move(*lower), shift};
    throw PreconditionError(std::string(name) +
                            " finds pivots that are not positive, even with twice the diagonal: the matrix is far from positive definite. "
                            "Take jacobi, or gmres where it is indefinite");
}

}  // namespace kasane::sparse
