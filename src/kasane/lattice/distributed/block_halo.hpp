// The blocks of a local lattice on its faces, for vectors of the little operator. Plain data for host and device.
// Invariant: sender and receiver number the blocks of a face equally: a block and its neighbour across the face have one number.
#pragma once

#include <kasane/lattice/distributed/halo_layout.hpp>
#include <kasane/lattice/solve/block_vectors.hpp>

namespace kasane::lattice {

struct BlockHalo {
    HaloLayout sites;                             ///< the faces, which send and receive the same slices of blocks
    BlockLayout blocks;                           ///< of the local lattice
    index_t begin[HaloLayout::most_faces + 1]{};  ///< number of blocks on the faces before each

    BlockHalo(const HaloLayout& of, const BlockLayout& layout) : sites(of), blocks(layout) {
        for (int face = 0; face < of.faces; ++face) begin[face + 1] = begin[face] + layout.blocks() / layout.grid[of.mu[face]];
    }
    KS_FN index_t count() const { return begin[sites.faces]; }  ///< on all faces
    KS_FN index_t count(int face) const { return begin[face + 1] - begin[face]; }
    KS_FN int face_of(index_t i) const {
        int face = 0;
        while (i >= begin[face + 1]) ++face;
        return face;
    }
    /// The face that receives the neighbours along mu, ahead or behind; -1: they belong to this worker.
    KS_FN int face_along(int mu, bool ahead) const {
        for (int face = 0; face < sites.faces; face += 2)
            if (sites.mu[face] == mu) return ahead ? face : face + 1;
        return -1;
    }
    /// Number of a block, by its place in the grid, among those of its slice perpendicular to mu.
    KS_FN index_t number(int mu, const Site& block) const {
        index_t number = 0;
        for (int nu = 3; nu >= 0; --nu)
            if (nu != mu) number = number * blocks.grid[nu] + block[nu];
        return number;
    }
    /// The block with this number in the first slice perpendicular to mu, or in the last one.
    KS_FN index_t block(int mu, bool in_first, index_t number) const {
        Site s{};
        for (int nu = 0; nu < 4; ++nu) {
            if (nu == mu) continue;
            s[nu] = static_cast<int>(number % blocks.grid[nu]);
            number /= blocks.grid[nu];
        }
        s[mu] = in_first ? 0 : blocks.grid[mu] - 1;
        return blocks.grid.lexicographic(s);
    }
};

}  // namespace kasane::lattice
