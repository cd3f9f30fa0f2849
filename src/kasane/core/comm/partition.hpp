// Who holds which particles: slabs of the order given, one per member, each a whole number of grains (but for the end of the last).
// Invariants: slabs follow each other, cover [0, n), and differ by at most one grain; a slab may be empty.
#pragma once

#include <kasane/core/base/types.hpp>

#include <algorithm>

namespace kasane::comm {

struct Partition {
    index_t n = 0;      ///< of all members
    index_t grain = 1;  ///< slabs begin at multiples of this
    int members = 1;

    index_t grains() const { return (n + grain - 1) / grain; }
    /// First grain of a member's slab; of `members`: the number of grains.
    index_t first_grain(int member) const { return grains() * member / members; }
    index_t begin(int member) const { return std::min(n, first_grain(member) * grain); }
    index_t end(int member) const { return begin(member + 1); }
    index_t count(int member) const { return end(member) - begin(member); }
    /// Of members [first, first + members).
    index_t count(int first, int how_many) const { return begin(first + how_many) - begin(first); }
    index_t largest() const {
        index_t most = 0;
        for (int m = 0; m < members; ++m) most = std::max(most, count(m));
        return most;
    }
};

}  // namespace kasane::comm
