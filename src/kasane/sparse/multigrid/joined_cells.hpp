// The cells of a grid that are joined to one cell of the next grid.
#pragma once

#include <kasane/sparse/multigrid/box_cells.hpp>

namespace kasane::sparse {

/// How the cells of a line along one direction belong to those of the next grid: by pairs 2 p and 2 p + 1, or each to its own coarse cell.
/// The last one of an odd number is alone. Where a periodic direction would have an odd number of coarse cells, one pair is divided.
struct JoinedLine {
    int n, coarse;  ///< cells of this grid and the next one
    int divided;    ///< the pair whose cells stay alone; n: none
    bool periodic;  ///< on the next grid, and so on this one

    KS_FN bool joins() const { return coarse < n; }
    /// The first cell of coarse cell I; for the number of coarse cells, that of cells.
    KS_FN int first(int I) const {
        if (!joins()) return I;
        const int past = I - divided, at = 2 * I - (past <= 0 ? 0 : past == 1 ? 1 : 2);
        return at < n ? at : n;
    }
    /// @tparam round  directions may be periodic, and a pair divided
    template <bool round = true>
    KS_FN int coarse_of(int i) const {
        return !joins() ? i : round && i > 2 * divided ? i / 2 + 1 : i / 2;
    }
    KS_FN bool alone(int i) const { return first(coarse_of(i) + 1) - first(coarse_of(i)) == 1; }
    /// The cell of number i, which may lie up to n cells outside; -1: there is none.
    KS_FN int cell(int i) const { return i >= 0 && i < n ? i : !periodic ? -1 : i < 0 ? i + n : i - n; }
    /// The coarse cell beyond the outer side of a cell of a pair, where coarse_of(i) = I; -1: there is none.
    template <bool round = true>
    KS_FN int beyond(int i, int I) const {
        const int other = i % 2 == 0 ? I - 1 : I + 1;
        return other >= 0 && other < coarse ? other : !round || !periodic ? -1 : other < 0 ? coarse - 1 : 0;
    }
    /// The face between the two cells of the coarse cell that lies after face `at` in direction `ahead` (1 or -1); -1: there is none.
    KS_FN int inner_face(int at, int ahead) const {
        const int near = cell(ahead > 0 ? at : at - 1), far = cell(near + ahead);  // a face has the number of the cell above it
        return near < 0 || far < 0 || coarse_of(near) != coarse_of(far) ? -1 : near > far ? near : far;
    }
    KS_FN bool by_pairs() const { return joins() && divided == n; }
};

/// The cells of the next grid. @param mean  conductance along each direction   @param lines  set, for each direction
BoxCells joined_cells(const BoxCells& cells, const double (&mean)[3], JoinedLine (&lines)[3]);

}  // namespace kasane::sparse
