// The messages of a hop: all faces of a local lattice at once, one channel for each. CUDA devices of one rank that reach each other's
// memory have a PeerHalo too. Invariants: every start() has its finish(); the buffers have space for the largest precision, and a face's
// part begins at layout().begin[face] times the bytes of a site.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/side_stream.hpp>
#include <kasane/lattice/distributed/halo_layout.hpp>
#include <kasane/lattice/distributed/peer_halo.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

#include <memory>
#include <vector>

namespace kasane::lattice {

/// The faces of this grid's local lattices.
HaloLayout halo_layout(const RankGrid& grid);

template <Space S>
class HaloExchange {
   public:
    /// Collective over the workers. @param bytes_per_site  the most that a site of a face takes
    HaloExchange(S on, comm::Worker& worker, const RankGrid& grid, index_t bytes_per_site);

    const HaloLayout& layout() const { return layout_; }
    std::byte* sent() { return sent_.data(); }
    const std::byte* received() const { return received_.data(); }

    /// Sends the bytes that work submitted so far to the space writes into sent(), and receives.
    void start(index_t bytes_per_site);
    /// Does the same with other memory: face f's messages are the bytes from begin[f] to begin[f + 1] of both views; the neighbours send as
    /// many.
    void start(const index_t (&begin)[HaloLayout::most_faces + 1], View<const std::byte> send, View<std::byte> receive);
    /// Work submitted to the space from now on may read received() and overwrite sent().
    void finish();
    /// The halos that replace messages in a hop; null: there are none.
    PeerHalo* peers() const { return peers_.get(); }
    /// Bytes received so far.
    double bytes() const;

   private:
    S on_;
    HaloLayout layout_;
    std::vector<int> to_, from_;  ///< workers, of each face
    SideStream<S> stream_;        ///< the order of the messages
    std::vector<comm::Channel<S>> channels_;
    Buffer<std::byte, S> sent_, received_;
    std::shared_ptr<PeerHalo> peers_;
};

}  // namespace kasane::lattice
