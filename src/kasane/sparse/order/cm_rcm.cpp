// Cyclic multicolouring of reverse Cuthill-McKee levels: the number of colours without conflicts.       [Washio et al. 2000; HOHNI17, 4.1]
#include <kasane/sparse/order/orders.hpp>

#include <algorithm>
#include <cstdlib>

namespace kasane::sparse::detail {

int conflict_free_colors(const Pattern& graph, const RowSets& levels, int colors) {
    const int count = levels.count();
    if (colors >= count) return count;
    std::vector<std::int32_t> level(levels.row.size());
    for (int l = 0; l < count; ++l)
        for (auto at = levels.begin[static_cast<std::size_t>(l)]; at < levels.begin[static_cast<std::size_t>(l) + 1]; ++at)
            level[static_cast<std::size_t>(levels.row[static_cast<std::size_t>(at)])] = l;
    // Two neighbours share a colour where k divides the distance of their levels. A row waits at most once per neighbour, so that no
    // distance exceeds the largest degree, and trying every k costs no more than one pass over all couplings.
    std::vector<char> distance(static_cast<std::size_t>(count), 0);
    int farthest = 0;
    for (std::int32_t row = 0; row < graph.rows(); ++row)
        graph.each_neighbor(row, [&](std::int32_t other) {
            const int apart = std::abs(level[static_cast<std::size_t>(row)] - level[static_cast<std::size_t>(other)]);
            distance[static_cast<std::size_t>(apart)] = 1;
            farthest = std::max(farthest, apart);
        });
    const auto conflict = [&](int k) {
        for (int apart = k; apart <= farthest; apart += k)
            if (distance[static_cast<std::size_t>(apart)]) return true;
        return false;
    };
    int k = std::max(colors, 1);
    while (k < count && conflict(k)) ++k;
    return k;
}

}  // namespace kasane::sparse::detail
