// Arguments of the kernels of the Wilson-clover operator on the CPU: tables, packed links and clover term, and the operation.
// Layouts: links [block][group of the block][link][reals][lanes of a group], 8 links x+ x- y+ y- z+ z- t+ t-, those of the backward steps
// U_mu(x - mu) without the adjoint: the links of each parity stand in the order in which they are read. In temporal gauge a block has links
// in t only where it steps around the lattice. Clover term A - 1 [group][2 chiralities][27][lanes], half: one scale for all 54; the 27 are
// 3 diagonal reals and 3 complex of the upper left 3x3 block's lower triangle, then the 3x3 complex block below it, row by row.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>

namespace kasane::lattice {

struct HopJob {
    const Lattice<Cpu>* lattice;
    Parity to;
    const void *in, *x;  ///< groups of fields; x may be null
    void* out;
    const void* links;
    const index_t* link_begin;  ///< of each block, in numbers; its last entry is the end
    const void* clover;         ///< null: A = 1
    HopForm form;
    LinkReals reals;
    bool half_links, temporal_gauge, adjoint, antiperiodic;
    double c;
};

/// Blocks [first, last) of the hop, in the instruction set that was chosen at run time.
template <Precision P>
void hop_blocks(const HopJob& job, index_t first, index_t last);

struct CloverJob {
    const void* in;
    void* out;
    const void* clover;
    bool inverse;
};

/// Groups [first, last) of out = A in or A^-1 in.
template <Precision P>
void clover_groups(const CloverJob& job, index_t first, index_t last);

}  // namespace kasane::lattice
