// Division of a lattice into blocks: their own regions, which cover the lattice once, and the extended blocks around them.
// Invariants: an extended block that would meet itself around the lattice spans the direction and is periodic there; in other directions
// its field vanishes outside (Dirichlet). All extended blocks have the same extents, and their first sites the same parity.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/schwarz/options.hpp>

#include <string>
#include <vector>

namespace kasane::lattice {

/// Blocks of a lattice. Block numbers are lexicographic.
struct BlockGrid {
    Extents lattice;       ///< the whole lattice
    Extents own;           ///< own region of a block
    Extents extended;      ///< block with its overlap
    Extents count;         ///< blocks along each direction
    bool spans[4] = {};    ///< the extended block has the lattice's extent
    int overlap = 0;       ///< sites on each side, in directions that are not spanned
    int colours = 1;       ///< 2: neighbouring blocks differ in colour
    bool divided = false;  ///< the blocks are those of one worker
    int first_colour = 0;  ///< of block 0
    Site base{};           ///< first site of block 0's own region
    Site stored{};         ///< first site of the links, clover terms and residuals that blocks read; other than 0 with a border alone

    index_t blocks() const { return count.volume(); }
    int colour(index_t block) const;
    /// First site of the own region, and of the extended block.
    Site origin(index_t block) const;
    Site start(index_t block) const;
    /// Whether a site of the extended block, by its coordinates there, belongs to the own region.
    bool owns(index_t block, const Site& local) const;
    /// The first sites' parity.
    Parity start_parity() const { return start(0).parity(); }
    /// A direction along which extended blocks can be stacked: their field vanishes beyond both faces; -1: none.
    int stacked_direction() const;
};

/// Returns the options with a value in place of every open choice: `block`, `overlap`, `cycles`, `block_steps`.
SchwarzOptions chosen(const SchwarzOptions& options, const Extents& lattice);

/// @param options  chosen and without problems
BlockGrid block_grid(const Extents& lattice, const SchwarzOptions& options);

/// Colours of a method: 1 or 2.
int colours_of(SchwarzMethod method);

/// Returns the problems of chosen options on this lattice, with usable blocks; empty if there are none.
std::vector<std::string> problems_of(const SchwarzOptions& options, const Extents& lattice);

}  // namespace kasane::lattice
