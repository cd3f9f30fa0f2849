// Links and clover term of extended blocks, stacked to one lattice: their Dirichlet condition is a link of zero on every face.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>

namespace kasane::lattice {

/// Position of stacked blocks in the lattice: block k of the stack begins `extended` k along the stacked direction.
struct StackedBlocks {
    Extents lattice, extended, stack;  ///< of the whole lattice, of a block, of all blocks of the stack
    bool spans[4] = {};
    int direction = -1;            ///< of the stack; -1: one block
    const Site* starts = nullptr;  ///< of each block, in the memory of the space
    Site first{};                  ///< BlockGrid::stored

    /// The site within its block; `block` becomes its number.
    KS_FN Site local(const Site& stacked, index_t& block) const {
        Site s = stacked;
        block = 0;
        if (direction >= 0) {
            block = s[direction] / extended[direction];
            s[direction] %= extended[direction];
        }
        return s;
    }
    /// The site of the whole lattice; `wraps`: it lies around the lattice in time as seen from the block's first site.
    KS_FN Site site(const Site& stacked, bool& wraps) const {
        index_t block = 0;
        Site s = local(stacked, block);
        wraps = false;
        for (int mu = 0; mu < 4; ++mu) {
            s[mu] += starts[block][mu];
            if (s[mu] >= lattice[mu]) {
                s[mu] -= lattice[mu];
                wraps = wraps || mu == 3;
            }
        }
        return s;
    }
    /// A site of the whole lattice where links, clover terms and residuals are stored.
    KS_FN Site stored(Site site) const {
        for (int mu = 0; mu < 4; ++mu) {
            site[mu] -= first[mu];
            if (site[mu] < 0) site[mu] += lattice[mu];
        }
        return site;
    }
};

/// The description of these blocks. @param starts  of the blocks, in the memory of the space that uses the result
StackedBlocks stacked_blocks(const BlockGrid& grid, index_t blocks, const Site* starts);

/// Links of the stack; those across a block's faces are zero. @param links  where they are stored
template <Space S>
Links<S> block_links(const Links<S>& links, const StackedBlocks& blocks);

/// Clover term of the stack, that of the whole lattice.
template <Space S>
CloverTerm<S> block_clover(const CloverTerm<S>& A, S on, const StackedBlocks& blocks);

}  // namespace kasane::lattice
