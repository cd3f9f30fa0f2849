// Starts, momenta and sweeps of divided links, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/updates.hpp>
#include <kasane/lattice/gauge/start.body.hpp>
#include <kasane/lattice/gauge/update.body.hpp>
#include <kasane/lattice/hmc/momenta.body.hpp>

namespace kasane::lattice {
namespace {

/// Updates the local links of one colour in the whole lattice.
template <class Update>
struct UpdateLocalLinks {
    LinksView links;
    LocalSites sites;
    int colour;
    Update update;
    KS_FN void operator()(index_t number) const {
        const Site x = sites.extended_site(number), there = sites.in_lattice(x);
        const int mu = direction_of_colour(there, colour);
        update_link(links, SitePlace(sites.extended, x), mu, update, 4 * sites.lattice.lexicographic(there) + mu);
    }
};

template <class Update>
void sweep_local_links(LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, const Update& update) {
    const auto& sites = halo.sites();
    for (int colour = 0; colour < link_colours; ++colour) {
        parallel_for_sites(halo.space(), sites.local.volume(), UpdateLocalLinks<Update>{u.view(), sites, colour, update});
        halo.exchange_colour(u, colour);
    }
}

/// Sets the four links of a site of the extended lattice.
template <class Start>
struct StartExtendedLinks {
    LinksView u;
    LocalSites sites;
    Start start;
    KS_FN void operator()(index_t i) const {
        const Site x = u.extents.site(i);
        Site global = sites.in_lattice(x);
        for (int mu = 0; mu < 4; ++mu) global[mu] = (global[mu] + sites.lattice[mu]) % sites.lattice[mu];
        for (int mu = 0; mu < 4; ++mu) u.store(x, mu, start(4 * sites.lattice.lexicographic(global) + mu));
    }
};

template <class Start>
void start_links(const LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, const Start& start) {
    parallel_for_sites(halo.space(), u.extents.volume(), StartExtendedLinks<Start>{u.view(), halo.sites(), start});
}

}  // namespace

template <>
void cold_start(const LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u) {
    start_links(halo, u, ColdStart{});
}
template <>
void hot_start(const LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, std::uint64_t seed) {
    start_links(halo, u, HotStart{seed});
}
template <>
void weak_start(const LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, double epsilon, std::uint64_t seed) {
    start_links(halo, u, WeakStart{seed, epsilon});
}

template <>
void draw_momenta(const LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& p, std::uint64_t seed, std::uint64_t trajectory) {
    start_links(halo, p, MomentumOfLink{seed, trajectory});
}

template <>
void heatbath_sweep(LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, double beta, std::uint64_t seed, std::uint64_t sweep) {
    sweep_local_links(halo, u, heatbath(beta, seed, sweep));
}
template <>
void overrelaxation_sweep(LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u) {
    sweep_local_links(halo, u, Overrelaxation{});
}

}  // namespace kasane::lattice
