#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/distributed/link_slices.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

constexpr int backward_channel = 9, forward_channel = 10;  // hops and links on the host have those before them

LocalSites local_sites(const RankGrid& grid, int worker, int width) {
    LocalSites sites{grid.lattice(), grid.local(), grid.local(), grid.origin(worker), {}};
    for (int mu = 0; mu < 4; ++mu) {
        if (!grid.divided(mu)) continue;
        sites.width[mu] = width;
        sites.extended.n[mu] += 2 * width;
    }
    return sites;
}

/// Numbers of the largest slice of a halo.
index_t largest_slice(const LocalSites& sites) {
    index_t most = 0;
    for (int mu = 0; mu < 4; ++mu) most = std::max(most, sites.extended.volume() / sites.extended[mu] * sites.width[mu]);
    return 72 * most;
}

/// Calls copy(number in the local lattice, number in the extended one, sites) for each row along x.
template <class Copy>
void for_local_rows(const LocalSites& sites, const Copy& copy) {
    const int row = sites.local[0];
    for (index_t i = 0; i < sites.local.volume(); i += row) {
        Site x = sites.local.site(i);
        for (int mu = 0; mu < 4; ++mu) x[mu] += sites.width[mu];
        copy(i, sites.extended.lexicographic(x), row);
    }
}

}  // namespace

template <Space S>
LinkHalo<S>::LinkHalo(S on, comm::Worker& worker, const RankGrid& grid, int width)
    : on_(on),
      worker_(worker),
      grid_(grid),
      sites_(local_sites(grid, worker.index(), width)),
      width_(width),
      backward_(on, worker, backward_channel),
      forward_(on, worker, forward_channel) {
    for (int side = 0; side < 2; ++side) {
        sent_[side] = Buffer<double, S>(on, largest_slice(sites_));
        received_[side] = Buffer<double, S>(on, largest_slice(sites_));
    }
}

template <Space S>
Links<S> LinkHalo<S>::extended(const GaugeField& local) {
    GaugeField all(sites_.extended);
    for_local_rows(sites_, [&](index_t from, index_t to, int row) { std::copy_n(&local.link(from, 0), 4 * row, &all.link(to, 0)); });
    auto u = links_on(on_, all);
    exchange(u);
    return u;
}

template <Space S>
GaugeField LinkHalo<S>::local(const Links<S>& extended) const {
    const auto all = to_gauge_field(extended);
    GaugeField local(sites_.local);
    for_local_rows(sites_, [&](index_t to, index_t from, int row) { std::copy_n(&all.link(from, 0), 4 * row, &local.link(to, 0)); });
    return local;
}

template <Space S>
template <class Pack, class Unpack>
void LinkHalo<S>::exchange_slices(int depth, int colour, int numbers, const Pack& pack, const Unpack& unpack) {
    for (int along = 0; along < 4; ++along) {
        const int width = sites_.width[along], local = sites_.local[along];
        if (width == 0) continue;
        const auto slices = [&](int first) { return LinkSlices{sites_, along, first, depth, colour}; };
        pack(slices(width), sent_[0].data());
        pack(slices(width + local - depth), sent_[1].data());
        const int back = grid_.neighbour(worker_.index(), along, -1), ahead = grid_.neighbour(worker_.index(), along, 1);
        const index_t bytes = numbers * slices(0).sites() * static_cast<index_t>(sizeof(double));
        const auto start = [&](comm::Channel<S>& channel, int side, int to, int from) {
            channel.start(on_, {reinterpret_cast<const std::byte*>(sent_[side].data()), bytes}, to,
                          {reinterpret_cast<std::byte*>(received_[side].data()), bytes}, from);
        };
        start(backward_, 0, back, ahead);
        start(forward_, 1, ahead, back);
        backward_.finish(on_);
        forward_.finish(on_);
        unpack(slices(width + local), received_[0].data());
        unpack(slices(width - depth), received_[1].data());
    }
}

template <Space S>
void LinkHalo<S>::exchange_links(Links<S>& u, int depth, int colour) {
    exchange_slices(
        depth, colour, colour < 0 ? 72 : 18, [&](const LinkSlices& slices, double* memory) { pack(slices, u, memory); },
        [&](const LinkSlices& slices, const double* memory) { unpack(slices, memory, u); });
}

template <Space S>
void LinkHalo<S>::exchange(const SiteNumbers& numbers, int depth) {
    KS_EXPECT(depth >= 1 && depth <= width_ && numbers.numbers <= 72);
    exchange_slices(
        depth, -1, numbers.numbers, [&](const LinkSlices& slices, double* memory) { pack(on_, slices, numbers, memory); },
        [&](const LinkSlices& slices, const double* memory) { unpack(on_, slices, memory, numbers); });
}

template <Space S>
void LinkHalo<S>::exchange(Links<S>& u) {
    exchange_links(u, width_, -1);
}

template <Space S>
void LinkHalo<S>::exchange(Links<S>& u, int depth) {
    KS_EXPECT(depth >= 1 && depth <= width_);
    exchange_links(u, depth, -1);
}

template <Space S>
void LinkHalo<S>::exchange_colour(Links<S>& u, int colour) {
    exchange_links(u, width_, colour);
}

template <Space S>
void LinkHalo<S>::pass(int mu, int step, View<const std::byte> send, View<std::byte> receive) {
    const int ahead = grid_.neighbour(worker_.index(), mu, step), behind = grid_.neighbour(worker_.index(), mu, -step);
    auto& channel = step > 0 ? forward_ : backward_;
    channel.start(on_, send, ahead, receive, behind);
    channel.finish(on_);
}

template class LinkHalo<Cpu>;
#if defined(KASANE_CUDA)
template class LinkHalo<Cuda>;
#endif

}  // namespace kasane::lattice
