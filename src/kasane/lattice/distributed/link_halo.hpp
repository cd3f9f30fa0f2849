// Links of a local lattice with a halo of the neighbours' links around it, on a space, and the messages that fill the halo.
// Direction after direction is exchanged, each with the halos of the directions before it, so that corners are filled too.
// Invariant: all workers of the grid call exchange() in the same order; it sends local links and writes only the halo.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/distributed/site_numbers.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

template <Space S>
class LinkHalo {
   public:
    /// Collective over the workers; at most one at a time in a communicator. @param worker  must outlive it
    /// @param width  of the halo: 1 for plaquettes, staples and the clover leaf, 2 for staples of rectangles
    LinkHalo(S on, comm::Worker& worker, const RankGrid& grid, int width = 1);

    S space() const { return on_; }
    comm::Worker& worker() const { return worker_; }
    const RankGrid& grid() const { return grid_; }
    const LocalSites& sites() const { return sites_; }
    /// Layers of the halo in divided directions.
    int width() const { return width_; }

    /// Uninitialised links of the extended lattice.
    Links<S> links() const { return {on_, sites_.extended}; }
    /// The links of the local lattice with their halo. Collective.
    Links<S> extended(const GaugeField& local);
    /// The links of the local lattice, from extended links.
    GaugeField local(const Links<S>& extended) const;

    /// Fills the halo.
    void exchange(Links<S>& u);
    /// Fills the layers of the halo that are next to the local lattice; those beyond become invalid. @param depth  from 1 to the width
    void exchange(Links<S>& u, int depth);
    /// The same for other numbers of the extended lattice, at most the 72 per site that links have.
    void exchange(const SiteNumbers& numbers, int depth);
    /// Fills the halo of the links of a colour in the whole lattice (gauge/link_colour.hpp); the others must be valid, or not be read.
    void exchange_colour(Links<S>& u, int colour);

    /// Sends bytes of this space to the neighbour on one side along mu, and receives as many from the other side. Collective.
    /// @param step  1 sends forward, -1 backward
    void pass(int mu, int step, View<const std::byte> send, View<std::byte> receive);

   private:
    /// @param colour  -1: all links
    void exchange_links(Links<S>& u, int depth, int colour);
    /// Calls pack(slices, memory) and unpack(slices, memory) of the slices that are sent and received. @param numbers  of a site
    template <class Pack, class Unpack>
    void exchange_slices(int depth, int colour, int numbers, const Pack& pack, const Unpack& unpack);

    S on_;
    comm::Worker& worker_;
    RankGrid grid_;
    LocalSites sites_;
    int width_;
    comm::Channel<S> backward_, forward_;
    Buffer<double, S> sent_[2], received_[2];  ///< of the slices that go backward, and forward
};

}  // namespace kasane::lattice
