// The matrices that smooth a prolongator, as functions of the matrix of the level: their entries are computed where they are used.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>

#include <cmath>

namespace kasane::sparse {

/// The entries of a row that the prolongator takes: those with |a_ij b_j| of at least a part of the largest one beside the diagonal.
template <class V>
struct FilteredRow {
    RowsView<V> A;
    const double* b;
    index_t row;
    double least;  ///< |a_ij b_j| of a kept entry
    V diagonal;    ///< with the entries that are not kept, in parts b_j / b_i; that of A where it would be small

    KS_FN double weight(std::uint32_t e) const { return std::fabs(static_cast<double>(A.value[e]) * b[A.column[e]]); }
    KS_FN bool keeps(std::uint32_t e) const { return A.column[e] == row || weight(e) >= least; }
};

/// 1 - omega D^-1 F, with F the entries of A for which |a_ij b_j| is at least `threshold` of the largest one beside the diagonal in row i.
/// The other entries are added to the diagonal D in parts b_j / b_i, so that F b = A b. The test is made for each row: where a coefficient
/// jumps, the side of the small one depends on the other side, and not the reverse.
template <class V>
struct FilteredSmoother {
    RowsView<V> A;
    const double* b;      ///< [rows] near-null vector
    const double* least;  ///< [rows] of FilteredRow
    const V* diagonal;    ///< [rows] of FilteredRow
    double omega;

    template <class Visit>
    KS_FN void each(index_t row, Visit visit) const {
        const FilteredRow<V> filtered{A, b, row, least[row], diagonal[row]};
        const V step = static_cast<V>(omega), factor = filtered.diagonal > 0 ? step / filtered.diagonal : 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e)
            if (filtered.keeps(e)) visit(A.column[e], A.column[e] == row ? 1 - step : -factor * A.value[e]);
    }
};

/// 1 - omega A, for several near-null vectors, which no diagonal can preserve.
template <class V>
struct UnfilteredSmoother {
    RowsView<V> A;
    double omega;

    template <class Visit>
    KS_FN void each(index_t row, Visit visit) const {
        const V step = static_cast<V>(omega);
        A.each(row, [&](std::int32_t column, V value) { visit(column, (column == row ? 1 : 0) - step * value); });
    }
};

/// A FilteredSmoother with the memory of its rows.
template <class V, Space S>
struct OwnFilteredSmoother {
    Buffer<double, S> least;
    Buffer<V, S> diagonal;
    FilteredSmoother<V> view;
};

/// The smoother with omega = 4/3 over the least of `largest`, an eigenvalue of A, and two bounds of the largest eigenvalue of D^-1 F.
/// @param threshold  of the largest entry of a row
template <class V, Space S>
OwnFilteredSmoother<V, S> filtered_smoother(S on, const RowsView<V>& A, View<const double> b, double threshold, double largest);

}  // namespace kasane::sparse
