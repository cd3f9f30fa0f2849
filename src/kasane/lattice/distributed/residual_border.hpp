// The residual of a local lattice with those of other workers around it, for Schwarz blocks that overlap them [Ish09, slides 38, 39].
// Direction after direction is exchanged, each with the border of the directions before it, so that corners are filled too; even sites
// alone, as they are stored. Invariant: all workers of the grid call extended() in the same order.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/schwarz/block_fields.hpp>

#include <memory>
#include <vector>

namespace kasane::lattice {

template <Space S, Precision P>
class ResidualBorder {
   public:
    /// Collective over the workers; at most one at a time in a communicator. @param sites  whose halo is the border, at most as wide as a
    /// local lattice
    ResidualBorder(comm::Worker& worker, const RankGrid& grid, const std::shared_ptr<const Lattice<S>>& local, const LocalSites& sites);

    /// The local lattice with its border.
    const std::shared_ptr<const Lattice<S>>& lattice() const { return lattice_; }
    /// The even sites of the whole lattice that are in it, of those of the local lattice. The result is valid until the next call.
    const Field<S, P>& extended(const Field<S, P>& r);
    /// Bytes that an exchange receives.
    index_t bytes() const;

   private:
    /// Places in the extended lattice, of the slices that go to one side of a direction and arrive from the other.
    struct Side {
        int to, from;  ///< workers
        Buffer<std::uint32_t, S> sent, received;
    };
    struct Step {
        Side backward, forward;
    };

    std::shared_ptr<const Lattice<S>> lattice_;
    Field<S, P> field_;
    Buffer<std::uint32_t, S> local_;  ///< place in the local lattice of each place; any where the border is
    std::vector<Step> steps_;         ///< of each divided direction
    comm::Channel<S> backward_, forward_;
    Buffer<std::byte, S> sent_[2], received_[2];
};

}  // namespace kasane::lattice
