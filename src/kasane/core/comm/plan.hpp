// The two phases of [MTM13] section 4 as a list of messages: accumulation (figs. 5 and 6: partner = worker XOR 2^s, data doubling) while it
// is faster and fits, then transport (fig. 4: a ring with two buffers).
//
// Any number of workers P: groups of G = 2^a workers accumulate, G the largest power of two that divides P and whose slabs fit the
// buffer; where G = P that is all, after log2 P messages. Otherwise P / G - 1 messages go around rings of P / G workers, one of each group,
// at the same position in it. These are log2 G + P / G - 1 messages in all: 2 for P = 4, 3 for P = 6, 6 for P = 7.
#pragma once

#include <kasane/core/comm/partition.hpp>

#include <vector>

namespace kasane::comm {

/// The slabs of neighbouring workers.
struct Slabs {
    int first = 0, count = 0;
    bool operator==(const Slabs&) const = default;
};

/// One message out and one in, at the same time.
struct Hop {
    int to = 0, from = 0;
    Slabs sent, received;
    bool accumulates = false;  ///< received slabs are joined to those that this worker sends next; false: only they are sent next
};

struct ExchangePlan {
    int group = 1;          ///< G
    std::vector<Hop> hops;  ///< in their order; after the last one, every slab has been on this worker
    int messages() const { return static_cast<int>(hops.size()); }
    /// Particles that each of the two buffers must hold: joined slabs, and received ones.
    index_t buffer = 0;
};

/// @param buffer  particles that each of the two buffers may hold; less than one slab counts as one slab (pure transport)
ExchangePlan exchange_plan(const Partition& partition, int worker, index_t buffer);

}  // namespace kasane::comm
