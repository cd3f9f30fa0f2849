#include <kasane/sparse/order/orders.hpp>

#include <algorithm>

namespace kasane::sparse::detail {

RowSets sorted_by_set(const std::vector<std::int32_t>& set, int sets) {
    RowSets out;
    out.begin.assign(static_cast<std::size_t>(sets) + 1, 0);
    for (const auto s : set) ++out.begin[static_cast<std::size_t>(s) + 1];
    for (std::size_t s = 1; s < out.begin.size(); ++s) out.begin[s] += out.begin[s - 1];
    out.row.resize(set.size());
    auto next = out.begin;
    for (std::size_t row = 0; row < set.size(); ++row)
        out.row[static_cast<std::size_t>(next[static_cast<std::size_t>(set[row])]++)] = static_cast<std::int32_t>(row);
    return out;
}

RowSets reversed(RowSets sets) {
    std::ranges::reverse(sets.row);
    std::ranges::reverse(sets.begin);
    for (auto& begin : sets.begin) begin = static_cast<index_t>(sets.row.size()) - begin;
    return sets;
}

RowSets cyclic(const RowSets& levels, int colors) {
    RowSets out;
    out.row.reserve(levels.row.size());
    for (int color = 0; color < colors; ++color) {
        for (int level = color; level < levels.count(); level += colors)
            out.row.insert(out.row.end(), levels.row.begin() + levels.begin[static_cast<std::size_t>(level)],
                           levels.row.begin() + levels.begin[static_cast<std::size_t>(level) + 1]);
        out.begin.push_back(static_cast<index_t>(out.row.size()));
    }
    return out;
}

}  // namespace kasane::sparse::detail
