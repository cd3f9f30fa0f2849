// The orderings one by one, each computed from a graph; order_rows() chooses among them.
// Invariants: every ordering visits each row once, in O(rows + couplings); where `steps` is 1, rows of a colour are independent.
#pragma once

#include <kasane/sparse/order/ordering.hpp>
#include <kasane/sparse/order/pattern.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse::detail {

/// Rows in sets: set s is row[begin[s] ... begin[s + 1]).
struct RowSets {
    std::vector<std::int32_t> row;
    std::vector<index_t> begin{0};
    int count() const { return static_cast<int>(begin.size()) - 1; }
};

/// Sorts rows by their set in O(rows), ascending inside a set.  @param set [rows] in 0 ... sets - 1
RowSets sorted_by_set(const std::vector<std::int32_t>& set, int sets);

/// Wavefronts of elimination in the matrix's own order.
RowSets natural_levels(const Pattern& graph);

/// Cuthill and McKee's levels with the order inside them; all components begin in level 0, because they are independent.
/// A row of level l > 0 is coupled to one of level l - 1, and to none of its own level.
RowSets cuthill_mckee_levels(const Pattern& graph);

/// Reverses the order of the sets, and of the rows in them.
RowSets reversed(RowSets sets);

/// mc:K: each colour takes independent rows in natural order until it has rows / K of them.
RowSets multicolor(const Pattern& graph, int colors);

/// The least k >= colors for which no two neighbours are in the same level modulo k; at most the number of levels.
int conflict_free_colors(const Pattern& graph, const RowSets& levels, int colors);

/// Colour c takes levels c, c + colors, ...
RowSets cyclic(const RowSets& levels, int colors);

/// Blocks of at most `size` rows that are near each other in the graph, ascending inside a block.
RowSets compact_blocks(const Pattern& graph, int size);

/// Colours of blocks, at least `colors` where there are as many blocks, such that coupled blocks differ.  @return [blocks]
std::pair<std::vector<std::int32_t>, int> color_blocks(const Pattern& graph, const RowSets& blocks, int colors);

}  // namespace kasane::sparse::detail
