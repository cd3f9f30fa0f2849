#include <kasane/sparse/multigrid/joined_cells.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace kasane::sparse {
namespace {

/// The pair of n cells that is divided. Every grid has another place: at one place the cells would stay as small as they are on the finest
/// grid. 130^3 cells, periodic, take 27 iterations so, and 11 with places along the line by the golden ratio.
int divided_pair(int n) {
    const double place = 0.6180339887 * std::bit_width(static_cast<unsigned>(n));
    return static_cast<int>((place - std::floor(place)) * (n / 2));
}

}  // namespace

BoxCells joined_cells(const BoxCells& cells, const double (&mean)[3], JoinedLine (&lines)[3]) {
    constexpr float strong_coupling = 0.3f;  // in parts of the largest mean conductance
    double strongest = 0;
    for (int d = 0; d < 3; ++d)
        if (cells.n[d] > 1) strongest = std::max(strongest, mean[d]);
    BoxCells coarse = cells;
    for (int d = 0; d < 3; ++d) {
        int& n = coarse.n[d];
        int divided = cells.n[d];
        if (n > 1 && mean[d] >= strong_coupling * strongest) {
            n = (n + 1) / 2;
            if (cells.periodic(d) && n % 2 == 1 && n > 1) ++n, divided = divided_pair(cells.n[d]);
            if (cells.periodic(d)) coarse.around[d] = n - 1;
        }
        lines[d] = {cells.n[d], n, divided, coarse.periodic(d)};
    }
    return coarse;
}

}  // namespace kasane::sparse
