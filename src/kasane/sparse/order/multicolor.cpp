// Multicolour ordering: repeated sweeps in natural order, each of which takes independent rows until its share is full.
#include <kasane/sparse/order/orders.hpp>

#include <algorithm>

namespace kasane::sparse::detail {

RowSets multicolor(const Pattern& graph, int colors) {
    const std::int32_t n = graph.rows();
    const index_t share = std::max<index_t>(1, n / std::max(colors, 1));
    RowSets out;
    out.row.reserve(static_cast<std::size_t>(n));
    // Rows without colour form a linked list. A sweep visits the rows that it takes and those that are blocked by a row taken in it, which
    // couplings bound: all sweeps together cost O(couplings), however many there are.
    std::vector<std::int32_t> next(static_cast<std::size_t>(n) + 1), blocked_in(static_cast<std::size_t>(n), -1);
    for (std::int32_t row = 0; row <= n; ++row) next[static_cast<std::size_t>(row)] = row;  // [row]: the row after row - 1 in the list
    for (std::int32_t color = 0; static_cast<index_t>(out.row.size()) < n; ++color) {
        index_t taken = 0;
        for (std::int32_t before = 0, row = next[0]; row < n && taken < share; row = next[static_cast<std::size_t>(before)]) {
            if (blocked_in[static_cast<std::size_t>(row)] == color) {
                before = row + 1;
                continue;
            }
            next[static_cast<std::size_t>(before)] = next[static_cast<std::size_t>(row) + 1];
            out.row.push_back(row);
            ++taken;
            graph.each_neighbor(row, [&](std::int32_t other) { blocked_in[static_cast<std::size_t>(other)] = color; });
        }
        out.begin.push_back(static_cast<index_t>(out.row.size()));
    }
    return out;
}

}  // namespace kasane::sparse::detail
