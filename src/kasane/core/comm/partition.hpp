// Distribution of particles: slabs in the given order, one per worker, each a whole number of grains (except at the end of the last).
// Invariants: slabs follow each other, cover [0, n), and differ by at most one grain; a slab may be empty.
#pragma once

#include <kasane/core/base/types.hpp>

#include <algorithm>

namespace kasane::comm {

struct Partition {
    index_t n = 0;      ///< of all workers
    index_t grain = 1;  ///< slabs begin at multiples of this
    int workers = 1;

    index_t grains() const { return (n + grain - 1) / grain; }
    /// First grain of a worker's slab; of `workers`: the number of grains.
    index_t first_grain(int worker) const { return grains() * worker / workers; }
    index_t begin(int worker) const { return std::min(n, first_grain(worker) * grain); }
    index_t end(int worker) const { return begin(worker + 1); }
    index_t count(int worker) const { return end(worker) - begin(worker); }
    /// Number of particles of the workers [first, first + workers).
    index_t count(int first, int how_many) const { return begin(first + how_many) - begin(first); }
    index_t largest() const {
        index_t most = 0;
        for (int m = 0; m < workers; ++m) most = std::max(most, count(m));
        return most;
    }
};

}  // namespace kasane::comm
