#include <kasane/lattice/schwarz/block_links.hpp>

namespace kasane::lattice {

StackedBlocks stacked_blocks(const BlockGrid& grid, index_t blocks, const Site* starts) {
    StackedBlocks all;
    all.lattice = grid.lattice;
    all.extended = all.stack = grid.extended;
    for (int mu = 0; mu < 4; ++mu) all.spans[mu] = grid.spans[mu];
    all.direction = blocks > 1 ? grid.stacked_direction() : -1;
    if (all.direction >= 0) all.stack.n[all.direction] *= static_cast<int>(blocks);
    all.starts = starts;
    all.first = grid.stored;
    return all;
}

}  // namespace kasane::lattice
