#include <kasane/sparse/multigrid/box_multigrid.hpp>

#include <algorithm>

namespace kasane::sparse {

BoxCells joined_cells(const BoxCells& cells, const double (&mean)[3], bool (&joins)[3]) {
    constexpr float strong_coupling = 0.3f;  // in parts of the largest mean conductance
    double strongest = 0;
    for (int d = 0; d < 3; ++d)
        if (cells.n[d] > 1) strongest = std::max(strongest, mean[d]);
    BoxCells coarse = cells;
    for (int d = 0; d < 3; ++d) {
        joins[d] = cells.n[d] > 1 && mean[d] >= strong_coupling * strongest;
        if (joins[d]) coarse.n[d] = (cells.n[d] + 1) / 2;
    }
    return coarse;
}

}  // namespace kasane::sparse
