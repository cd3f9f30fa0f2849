#include <kasane/lattice/distributed/residual_border.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solve/block_batch.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

constexpr int backward_channel_of_border = 11, forward_channel_of_border = 12;  // links on a space have those before them

/// Parity in the extended lattice of the sites that are even in the whole one.
Parity even_sites(const LocalSites& sites) {
    return static_cast<Parity>((sites.width[0] + sites.width[1] + sites.width[2] + sites.width[3]) % 2);
}

/// Places of the even sites in the slices of a border from `first` on. Directions before mu have their borders; of later ones the local
/// sites alone, because their own exchange fills the rest.
template <Space S>
std::vector<std::uint32_t> places_of_slices(const Lattice<S>& lattice, const LocalSites& sites, int mu, int first) {
    Site begin{};
    Extents count = sites.extended;
    for (int nu = mu + 1; nu < 4; ++nu) begin[nu] = sites.width[nu], count.n[nu] = sites.local[nu];
    begin[mu] = first, count.n[mu] = sites.width[mu];
    std::vector<std::uint32_t> places;
    for (index_t i = 0; i < count.volume(); ++i) {
        Site x = count.site(i);
        for (int nu = 0; nu < 4; ++nu) x[nu] += begin[nu];
        if (x.parity() == even_sites(sites)) places.push_back(static_cast<std::uint32_t>(place_of(lattice, x)));
    }
    return places;
}

}  // namespace

template <Space S, Precision P>
ResidualBorder<S, P>::ResidualBorder(comm::Worker& worker, const RankGrid& grid, const std::shared_ptr<const Lattice<S>>& local,
                                     const LocalSites& sites)
    : lattice_(std::make_shared<const Lattice<S>>(local->space(), sites.extended)),
      field_(lattice_),
      backward_(local->space(), worker, backward_channel_of_border),
      forward_(local->space(), worker, forward_channel_of_border) {
    const auto on = local->space();
    std::vector<std::uint32_t> table(static_cast<std::size_t>(places_of(*lattice_)));
    for (index_t place = 0; place < places_of(*lattice_); ++place) {
        Site x = site_of(*lattice_, even_sites(sites), place);
        bool inside = true;
        for (int mu = 0; mu < 4; ++mu) {
            x[mu] -= sites.width[mu];
            inside = inside && x[mu] >= 0 && x[mu] < sites.local[mu];
        }
        if (inside) table[static_cast<std::size_t>(place)] = static_cast<std::uint32_t>(place_of(*local, x));
    }
    local_ = to_space(on, table);
    index_t most = 0;
    for (int mu = 0; mu < 4; ++mu) {
        const int width = sites.width[mu], extent = sites.local[mu];
        if (width == 0) continue;
        KS_EXPECT(width <= extent);
        const int back = grid.neighbour(worker.index(), mu, -1), ahead = grid.neighbour(worker.index(), mu, 1);
        const auto places = [&](int first) { return to_space(on, places_of_slices(*lattice_, sites, mu, first)); };
        steps_.push_back({{back, ahead, places(width), places(width + extent)}, {ahead, back, places(extent), places(0)}});
        most = std::max(most, steps_.back().backward.sent.size());
    }
    for (int side = 0; side < 2; ++side) {
        sent_[side] = Buffer<std::byte, S>(on, most * spinor_bytes<P>);
        received_[side] = Buffer<std::byte, S>(on, most * spinor_bytes<P>);
    }
}

template <Space S, Precision P>
const Field<S, P>& ResidualBorder<S, P>::extended(const Field<S, P>& r) {
    const auto on = lattice_->space();
    gather(r, local_, field_);
    for (const auto& step : steps_) {
        const auto start = [&](comm::Channel<S>& channel, int k, const Side& side) {
            const index_t bytes = side.sent.size() * spinor_bytes<P>;
            pack_spinors(field_, side.sent, sent_[k].data());
            channel.start(on, {sent_[k].data(), bytes}, side.to, {received_[k].data(), bytes}, side.from);
        };
        start(backward_, 0, step.backward);
        start(forward_, 1, step.forward);
        backward_.finish(on);
        forward_.finish(on);
        unpack_spinors(received_[0].data(), step.backward.received, field_);
        unpack_spinors(received_[1].data(), step.forward.received, field_);
    }
    return field_;
}

template <Space S, Precision P>
index_t ResidualBorder<S, P>::bytes() const {
    index_t sites = 0;
    for (const auto& step : steps_) sites += step.backward.received.size() + step.forward.received.size();
    return sites * spinor_bytes<P>;
}

#define KS_DEFINE(S)                                     \
    template class ResidualBorder<S, Precision::half>;   \
    template class ResidualBorder<S, Precision::single>; \
    template class ResidualBorder<S, Precision::double_>;
KS_DEFINE(Cpu)
#if defined(KASANE_CUDA)
KS_DEFINE(Cuda)
#endif
#undef KS_DEFINE

}  // namespace kasane::lattice
