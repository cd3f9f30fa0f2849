#include <kasane/lattice/distributed/halo_exchange.hpp>

#include <utility>

namespace kasane::lattice {

HaloLayout halo_layout(const RankGrid& grid) {
    HaloLayout layout;
    layout.local = grid.local();
    for (int mu = 0; mu < 4; ++mu) {
        if (!grid.divided(mu)) continue;
        for (int side = 0; side < 2; ++side) {
            layout.mu[layout.faces] = mu;
            layout.begin[layout.faces + 1] = layout.begin[layout.faces] + grid.local().half() / grid.local()[mu];
            ++layout.faces;
        }
    }
    return layout;
}

template <Space S>
HaloExchange<S>::HaloExchange(S on, comm::Worker& worker, const RankGrid& grid, index_t bytes_per_site)
    : on_(on),
      layout_(halo_layout(grid)),
      stream_(on, Urgency::high),
      sent_(on, layout_.sites() * bytes_per_site),
      received_(on, layout_.sites() * bytes_per_site) {
    for (int face = 0; face < layout_.faces; ++face) {
        const int back = grid.neighbour(worker.index(), layout_.mu[face], -1), ahead = grid.neighbour(worker.index(), layout_.mu[face], 1);
        to_.push_back(HaloLayout::first(face) ? back : ahead);
        from_.push_back(HaloLayout::first(face) ? ahead : back);
        channels_.emplace_back(on, worker, face);
    }
#if defined(KASANE_CUDA)
    if constexpr (!std::same_as<S, Cpu>) peers_ = PeerHalo::connect(on, worker, grid);
#endif
}

template <Space S>
void HaloExchange<S>::start(index_t bytes_per_site) {
    index_t begin[HaloLayout::most_faces + 1];
    for (std::size_t face = 0; face <= channels_.size(); ++face) begin[face] = layout_.begin[face] * bytes_per_site;
    start(begin, std::as_const(sent_).view(), received_.view());
}

template <Space S>
void HaloExchange<S>::start(const index_t (&begin)[HaloLayout::most_faces + 1], View<const std::byte> send, View<std::byte> receive) {
    stream_.follow(on_);
    for (std::size_t face = 0; face < channels_.size(); ++face) {
        const index_t bytes = begin[face + 1] - begin[face];
        channels_[face].start(stream_.space(), View<const std::byte>{send.ptr + begin[face], bytes}, to_[face],
                              View<std::byte>{receive.ptr + begin[face], bytes}, from_[face]);
    }
}

template <Space S>
void HaloExchange<S>::finish() {
    for (auto& channel : channels_) channel.finish(stream_.space());
    stream_.lead(on_);
}

template <Space S>
double HaloExchange<S>::bytes() const {
    double sum = 0;
    for (const auto& channel : channels_) sum += channel.bytes();
#if defined(KASANE_CUDA)
    if (peers_) sum += peers_->bytes();
#endif
    return sum;
}

template class HaloExchange<Cpu>;
#if defined(KASANE_CUDA)
template class HaloExchange<Cuda>;
#endif

}  // namespace kasane::lattice
