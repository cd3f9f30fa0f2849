// Division of work on the CPU: the same parts for any number of threads, so that sums in the order of parts have the same bits, too.
#pragma once

#include <kasane/core/device/thread_pool.hpp>
#include <kasane/lattice/dirac/cpu/lattice.hpp>

#include <algorithm>

namespace kasane::lattice {

constexpr index_t part_blocks = 32;  ///< 512 sites
inline index_t part_count(const Lattice<Cpu>& lattice) { return (lattice.blocks() + part_blocks - 1) / part_blocks; }

/// Calls work(part, first block, last block) for every part; the parts of a thread are neighbours.
template <class Work>
void for_parts(const Lattice<Cpu>& lattice, const Work& work) {
    const index_t parts = part_count(lattice), blocks = lattice.blocks();
    for_each_part(thread_count(lattice.space()), parts,
                  [&](index_t part) { work(part, part * part_blocks, std::min(blocks, (part + 1) * part_blocks)); });
}

}  // namespace kasane::lattice
