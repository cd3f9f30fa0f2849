// Algebraic block multicolouring: rows that are near each other in the graph share a block, and blocks are coloured.
//                                                                      [Iwashita & Nakashima; the blocks are found in another way]
// Blocks come from repeated pairing of neighbours, like aggregates of multigrid methods: on a box blocks of 2^k rows are boxes themselves
// and two colours are enough. On the unit box of 32^3 cells 8 rows and 2 colours take 89 iterations, where lines of 8 consecutive rows
// take 110, and blocks grown breadth-first need 9 colours for 104. Colours are taken in turn: 32 rows, 4 colours take 81 iterations,
// 92 when the smallest colour is preferred.
#include <kasane/sparse/order/orders.hpp>

#include <algorithm>

namespace kasane::sparse::detail {
namespace {

/// Aggregates of rows as a graph: an edge counts the couplings between two of them.
struct Quotient {
    std::vector<std::int32_t> size;  ///< rows of each
    std::vector<index_t> begin;
    std::vector<std::int32_t> other, couplings;

    template <class F>
    void each_neighbor(std::int32_t a, F f) const {
        for (auto e = begin[static_cast<std::size_t>(a)]; e < begin[static_cast<std::size_t>(a) + 1]; ++e)
            f(other[static_cast<std::size_t>(e)], couplings[static_cast<std::size_t>(e)]);
    }
};

/// Rows as aggregates of one.
struct Singles {
    const Pattern& graph;
    template <class F>
    void each_neighbor(std::int32_t a, F f) const {
        graph.each_neighbor(a, [&](std::int32_t b) { f(b, 1); });
    }
};

struct Pairing {
    std::vector<std::int32_t> pair;  ///< of each aggregate, numbered by the first of the two
    std::int32_t pairs = 0;
};

/// Joins each aggregate, in order, to the free neighbour with most couplings, the first of equals, where both fit into a block.
template <class Graph>
Pairing paired(const Graph& graph, const std::vector<std::int32_t>& size, int block) {
    Pairing out{std::vector<std::int32_t>(size.size(), -1), 0};
    for (std::size_t a = 0; a < size.size(); ++a) {
        if (out.pair[a] >= 0) continue;
        std::int32_t best = -1, most = 0;
        graph.each_neighbor(static_cast<std::int32_t>(a), [&](std::int32_t b, std::int32_t couplings) {
            const auto at = static_cast<std::size_t>(b);
            if (out.pair[at] >= 0 || size[a] + size[at] > block) return;
            if (couplings > most || (couplings == most && b < best)) most = couplings, best = b;
        });
        out.pair[a] = out.pairs;
        if (best >= 0) out.pair[static_cast<std::size_t>(best)] = out.pairs;
        ++out.pairs;
    }
    return out;
}

template <class Graph>
Quotient joined(const Graph& graph, const std::vector<std::int32_t>& size, const Pairing& pairing) {
    const auto rows_of = sorted_by_set(pairing.pair, pairing.pairs);
    Quotient out;
    out.size.assign(static_cast<std::size_t>(pairing.pairs), 0);
    for (std::size_t a = 0; a < size.size(); ++a) out.size[static_cast<std::size_t>(pairing.pair[a])] += size[a];
    out.begin.reserve(out.size.size() + 1);
    out.begin.push_back(0);
    std::vector<index_t> entry(out.size.size(), -1);
    for (std::int32_t p = 0; p < pairing.pairs; ++p) {
        const auto first = out.begin.back();
        for (auto at = rows_of.begin[static_cast<std::size_t>(p)]; at < rows_of.begin[static_cast<std::size_t>(p) + 1]; ++at)
            graph.each_neighbor(rows_of.row[static_cast<std::size_t>(at)], [&](std::int32_t b, std::int32_t couplings) {
                const auto other = pairing.pair[static_cast<std::size_t>(b)];
                if (other == p) return;
                auto& e = entry[static_cast<std::size_t>(other)];
                if (e < first) {
                    e = static_cast<index_t>(out.other.size());
                    out.other.push_back(other);
                    out.couplings.push_back(0);
                }
                out.couplings[static_cast<std::size_t>(e)] += couplings;
            });
        out.begin.push_back(static_cast<index_t>(out.other.size()));
    }
    return out;
}

/// Remaining aggregates of at most half a block share blocks, in order, coupled or not: otherwise these would be mostly padding.
/// @return the block of each aggregate   @param size of each; of each block afterwards
std::vector<std::int32_t> packed(std::vector<std::int32_t>& size) {
    const auto block = size.empty() ? 0 : *std::ranges::max_element(size);
    std::vector<std::int32_t> target(size.size()), out;
    std::int32_t open = -1;
    for (std::size_t a = 0; a < size.size(); ++a) {
        const bool small = 2 * size[a] <= block;
        if (small && open >= 0 && out[static_cast<std::size_t>(open)] + size[a] <= block) {
            target[a] = open;
            out[static_cast<std::size_t>(open)] += size[a];
            continue;
        }
        target[a] = static_cast<std::int32_t>(out.size());
        if (small) open = target[a];
        out.push_back(size[a]);
    }
    size = std::move(out);
    return target;
}

}  // namespace

RowSets compact_blocks(const Pattern& graph, int size) {
    std::vector<std::int32_t> block(static_cast<std::size_t>(graph.rows()));
    for (std::int32_t row = 0; row < graph.rows(); ++row) block[static_cast<std::size_t>(row)] = row;
    const auto renumber = [&](const std::vector<std::int32_t>& target) {
        for (auto& b : block) b = target[static_cast<std::size_t>(b)];
    };
    Quotient aggregates;
    aggregates.size.assign(block.size(), 1);
    // Each round is linear in the graph that the last one left: on meshes half of its size.
    for (int reach = 1; reach < size; reach *= 2) {
        if (reach == 1) {
            const auto pairing = paired(Singles{graph}, aggregates.size, size);
            aggregates = joined(Singles{graph}, aggregates.size, pairing);
            renumber(pairing.pair);
        } else {
            const auto pairing = paired(aggregates, aggregates.size, size);
            aggregates = joined(aggregates, aggregates.size, pairing);
            renumber(pairing.pair);
        }
    }
    renumber(packed(aggregates.size));
    return sorted_by_set(block, static_cast<int>(aggregates.size.size()));
}

std::pair<std::vector<std::int32_t>, int> color_blocks(const Pattern& graph, const RowSets& blocks, int colors) {
    const auto count = static_cast<std::size_t>(blocks.count());
    std::vector<std::int32_t> block_of(blocks.row.size()), color(count, -1);
    for (std::size_t b = 0; b < count; ++b)
        for (auto at = blocks.begin[b]; at < blocks.begin[b + 1]; ++at)
            block_of[static_cast<std::size_t>(blocks.row[static_cast<std::size_t>(at)])] = static_cast<std::int32_t>(b);

    std::vector<std::size_t> taken(std::min(static_cast<std::size_t>(colors), count), 0);  // blocks of each colour
    std::vector<std::int32_t> forbidden_for(taken.size(), -1);
    std::size_t last = taken.size() - 1;
    for (std::size_t b = 0; b < count; ++b) {
        std::size_t forbidden = 0;
        for (auto at = blocks.begin[b]; at < blocks.begin[b + 1]; ++at)
            graph.each_neighbor(blocks.row[static_cast<std::size_t>(at)], [&](std::int32_t other) {
                const auto c = color[static_cast<std::size_t>(block_of[static_cast<std::size_t>(other)])];
                if (c < 0 || forbidden_for[static_cast<std::size_t>(c)] == static_cast<std::int32_t>(b)) return;
                forbidden_for[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(b);
                ++forbidden;
            });
        // The next colour in turn that is free and not 5% above its share, else the smallest free one among a few: as many tests as
        // there are forbidden colours, and some more.
        constexpr std::size_t some = 8;
        const std::size_t share = b / taken.size() + b / taken.size() / 20 + 2;
        std::size_t best = taken.size();
        for (std::size_t turn = 1; turn <= std::min(taken.size(), forbidden + some); ++turn) {
            const auto c = (last + turn) % taken.size();
            if (forbidden_for[c] == static_cast<std::int32_t>(b)) continue;
            if (best == taken.size() || taken[c] < taken[best]) best = c;
            if (taken[c] < share) {
                best = c;
                break;
            }
        }
        if (best == taken.size()) taken.push_back(0), forbidden_for.push_back(-1);
        color[b] = static_cast<std::int32_t>(best);
        ++taken[best];
        last = best;
    }
    // Every colour has a block.
    std::vector<std::int32_t> rank(taken.size(), 0);
    int used = 0;
    for (std::size_t c = 0; c < taken.size(); ++c)
        if (taken[c] > 0) rank[c] = used++;
    for (auto& c : color) c = rank[static_cast<std::size_t>(c)];
    return {std::move(color), used};
}

}  // namespace kasane::sparse::detail
