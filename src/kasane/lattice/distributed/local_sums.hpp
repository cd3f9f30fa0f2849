// Sums over the local sites of all workers, for *.kernels.cpp: the bodies of one device on the local sites of an extended lattice.
// Invariant: a worker's sum is in one order for any number of threads, and all workers get the same bits.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/gauge/link_paths.body.hpp>

namespace kasane::lattice {

/// A body of for_each_around (gauge/around_sites.hpp) with that many roles, on the local sites.
template <int roles, class Body>
struct AroundLocalSites {
    LocalSites sites;
    Body body;
    KS_FN auto operator()(index_t i) const {
        const index_t half = sites.local.half();
        const Site x = sites.extended_site(static_cast<Parity>(i / half / roles), i % half);
        return body(SitePlace(sites.extended, x), static_cast<int>(i / half % roles));
    }
};

template <int K>
Terms<K> over_workers(comm::Worker& worker, Terms<K> here) {
    worker.all_reduce({here.of, K}, comm::Reduce::sum);
    return here;
}

/// The sum of body(index of a site) over the local sites of all workers. Collective.
template <int K, Space S, class Body>
Terms<K> sum_of_sites(LinkHalo<S>& halo, const Body& body) {
    const auto& sites = halo.sites();
    return over_workers(halo.worker(), sum<K>(halo.space(), sites.local.volume(), OnLocalSites<Body>{sites, body}));
}

}  // namespace kasane::lattice
