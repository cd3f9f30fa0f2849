#include <kasane/lattice/distributed/local_lattice.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/solve/positive_clover.hpp>

namespace kasane::lattice {
namespace {

constexpr int channel_of_links = HaloLayout::most_faces;  // the faces have those before it

}  // namespace

template <Space S>
LocalLattice<S>::LocalLattice(S on, comm::Worker& worker, const RankGrid& grid)
    : on_(on),
      worker_(worker),
      grid_(grid),
      lattice_(std::make_shared<const Lattice<S>>(on, grid.local())),
      exchange_(std::make_unique<HaloExchange<S>>(on, worker, grid, halo_site_bytes<Precision::double_>)),
      of_links_(Cpu{}, worker, channel_of_links) {}

template <Space S>
typename LocalLattice<S>::Packed LocalLattice<S>::pack(const GaugeField& links, const DiracParameters& parameters) {
    const auto& layout = exchange_->layout();
    const bool hops_read_halos = exchange_->peers() != nullptr;
    Packed packed{links_on(on_, links), {}, {}, {}};
    if (!hops_read_halos) {
        packed.interior = links_on(on_, links);
        remove_leaving_links(layout, packed.interior);
    }
    if (hops_read_halos || parameters.csw != 0) packed.with_halo = links_on(on_, with_halo(worker_, of_links_, grid_, links));
    if (parameters.csw != 0) {
        packed.clover = without_halo(clover_term(packed.with_halo, parameters.kappa * parameters.csw), layout);
        if (!hops_read_halos) packed.with_halo = {};
        double bad = is_positive(*packed.clover) ? 0 : 1;
        worker_.all_reduce({&bad, 1}, comm::Reduce::max);
        if (bad > 0) refuse_clover_term(parameters);
    }
    return packed;
}

template <Space S>
BlockGrid LocalLattice<S>::local_blocks(const SchwarzOptions& options) const {
    auto blocks = block_grid(options.overlap > 0 ? grid_.lattice() : lattice_->extents(), options);
    blocks.divided = true;
    if (options.overlap > 0) {
        blocks.base = origin();
        for (int mu = 0; mu < 4; ++mu) {
            blocks.count.n[mu] = lattice_->extents()[mu] / blocks.own[mu];
            const int n = blocks.lattice[mu];
            if (grid_.divided(mu)) blocks.stored[mu] = (blocks.base[mu] - options.overlap + n) % n;
        }
    }
    const Site place = grid_.place(worker_.index());
    int before = 0;
    for (int mu = 0; mu < 4; ++mu) before += place[mu] * blocks.count[mu];
    blocks.first_colour = before % 2;
    return blocks;
}

template <Space S>
typename LocalLattice<S>::Bordered LocalLattice<S>::with_border(const Packed& from, int width) const {
    LinkHalo<S> halo(on_, worker_, grid_, width);
    const auto& sites = halo.sites();
    Bordered bordered{sites, halo.links(), {}};
    copy_to_extended(on_, sites, numbers_of(from.links), numbers_of(bordered.links));
    halo.exchange(bordered.links);
    if (from.clover) {
        auto& A = bordered.clover.emplace(sites.extended, Buffer<double, S>(on_, 72 * sites.extended.volume()));
        copy_to_extended(on_, sites, numbers_of(*from.clover), numbers_of(A));
        halo.exchange(numbers_of(A), width);
    }
    synchronize(AnySpace(on_));  // the neighbours read the halo's memory, which is freed here
    return bordered;
}

template <Space S>
Links<S> LocalLattice<S>::without_leaving_links(const Links<S>& links) const {
    Links<S> interior(on_, links.extents);
    copy_links(links, interior);
    remove_leaving_links(exchange_->layout(), interior);
    return interior;
}

template <Space S>
krylov::StopFunction LocalLattice<S>::agreed(const krylov::StopFunction& stop) {
    return comm::agreed(worker_, stop);
}

template class LocalLattice<Cpu>;
#if defined(KASANE_CUDA)
template class LocalLattice<Cuda>;
#endif

}  // namespace kasane::lattice
