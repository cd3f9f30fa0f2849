// Arguments of the kernels of the Wilson-clover operator on the CPU: tables, packed links and clover term, and the operation.
// Layouts: links of a parity's sites, the forward ones only, [direction][block][group of the block][reals][lanes of a group]: a backward
// step reads the link of the other parity at the place from which it reads the spinor. In temporal gauge only those blocks have links in t
// that step around the lattice. Clover term A - 1 [group][2 chiralities][27][lanes], half: one scale for all 54; the 27 are
// 3 diagonal reals and 3 complex of the upper left 3x3 block's lower triangle, then the 3x3 complex block below it, row by row.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>

namespace kasane::lattice {

struct HopJob {
    const Lattice<Cpu>* lattice;
    Parity to;
    const void *in, *x;  ///< groups of fields; x may be null
    void* out;
    const void *links, *links_behind;                      ///< of the sites of parity `to`, of those of the other
    const std::int32_t *time_blocks, *time_blocks_behind;  ///< place of each block's links in t among those; null: all blocks have them
    const void* clover;                                    ///< null: A = 1
    HopForm form;
    LinkReals reals;
    bool half_links, temporal_gauge, adjoint, antiperiodic;
    bool links_to_second_cache;  ///< prefetch links to the second-level cache, else to the first
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
