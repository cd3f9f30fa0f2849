// The circulant order of blocks, dealt out to workers: block b of B meets b, b + 1, …, b + B/2 (mod B); with B even, of two blocks right
// across one meets the other, by turns, so that every pair of blocks is met once, and neighbours share the work equally. Pure arithmetic.
#pragma once

#include <kasane/core/base/types.hpp>

#include <vector>

namespace kasane::gravity {

/// Neighbouring distances at which block `block` meets blocks of a source block.
struct CirculantRow {
    int block;     ///< of all
    int distance;  ///< first of them; the other block is (block + distance) mod B
    int count;     ///< how many
};

/// Largest distance at which block b meets another.
KS_FN int circulant_reach(int block, int blocks) {
    if (blocks % 2 == 1) return blocks / 2;
    const int half = blocks / 2;
    return block % half % 2 == (block < half ? 0 : 1) ? half : half - 1;
}

/// All tile pairs of the blocks [begin, end) with those of [other_begin, other_end) of `blocks`, row by row; a block may have two rows.
std::vector<CirculantRow> circulant_rows(int blocks, int begin, int end, int other_begin, int other_end);

}  // namespace kasane::gravity
