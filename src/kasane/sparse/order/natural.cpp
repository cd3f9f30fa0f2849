#include <kasane/sparse/order/orders.hpp>

#include <algorithm>

namespace kasane::sparse::detail {

RowSets natural_levels(const Pattern& graph) {
    std::vector<std::int32_t> level(static_cast<std::size_t>(graph.rows()));
    int levels = 0;
    for (std::int32_t row = 0; row < graph.rows(); ++row) {
        std::int32_t mine = 0;
        graph.each_neighbor(row, [&](std::int32_t other) {
            if (other < row) mine = std::max(mine, level[static_cast<std::size_t>(other)] + 1);
        });
        level[static_cast<std::size_t>(row)] = mine;
        levels = std::max(levels, mine + 1);
    }
    return sorted_by_set(level, levels);
}

}  // namespace kasane::sparse::detail
