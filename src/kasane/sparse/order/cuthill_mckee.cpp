// Breadth-first levels without couplings inside a level.                                                             [Cuthill & McKee 1969]
#include <kasane/sparse/order/orders.hpp>

namespace kasane::sparse::detail {
namespace {

std::int32_t first_of_least_degree(const Pattern& graph) {
    std::int32_t best = 0;
    index_t least = graph.rows();
    for (std::int32_t row = 0; row < graph.rows(); ++row)
        if (const auto degree = graph.neighbors(row); degree < least) least = degree, best = row;
    return best;
}

/// The first row of least degree, then the first row of every other component.
std::vector<std::int32_t> starts(const Pattern& graph) {
    std::vector<std::int32_t> found, queue;
    std::vector<char> seen(static_cast<std::size_t>(graph.rows()), 0);
    const auto visit = [&](std::int32_t row) {
        if (seen[static_cast<std::size_t>(row)]) return;
        seen[static_cast<std::size_t>(row)] = 1;
        queue.push_back(row);
    };
    const auto component_of = [&](std::int32_t start) {
        if (seen[static_cast<std::size_t>(start)]) return;
        found.push_back(start);
        queue.clear();
        visit(start);
        while (!queue.empty()) {
            const auto row = queue.back();
            queue.pop_back();
            graph.each_neighbor(row, visit);
        }
    };
    if (graph.rows() > 0) component_of(first_of_least_degree(graph));
    for (std::int32_t row = 0; row < graph.rows(); ++row) component_of(row);
    return found;
}

}  // namespace

RowSets cuthill_mckee_levels(const Pattern& graph) {
    const auto n = static_cast<std::size_t>(graph.rows());
    RowSets out;
    out.row.reserve(n);
    enum : char { unseen, candidate, placed };
    std::vector<char> state(n, unseen);
    std::vector<std::int32_t> blocked_in(n, -1);
    auto candidates = starts(graph);
    std::vector<std::int32_t> next;
    for (std::int32_t level = 0; !candidates.empty(); ++level) {
        // Candidates in the order in which they were found; one that is coupled to a row already in this level waits, and is found again
        // from there. Each time a row waits, one more of its neighbours has been placed: all waits together are O(couplings).
        const auto first = out.row.size();
        for (const auto row : candidates) {
            if (blocked_in[static_cast<std::size_t>(row)] == level) {
                state[static_cast<std::size_t>(row)] = unseen;
                continue;
            }
            state[static_cast<std::size_t>(row)] = placed;
            out.row.push_back(row);
            graph.each_neighbor(row, [&](std::int32_t other) { blocked_in[static_cast<std::size_t>(other)] = level; });
        }
        out.begin.push_back(static_cast<index_t>(out.row.size()));
        next.clear();
        for (auto at = first; at < out.row.size(); ++at)
            graph.each_neighbor(out.row[at], [&](std::int32_t other) {
                if (state[static_cast<std::size_t>(other)] != unseen) return;
                state[static_cast<std::size_t>(other)] = candidate;
                next.push_back(other);
            });
        candidates.swap(next);
    }
    return out;
}

}  // namespace kasane::sparse::detail
