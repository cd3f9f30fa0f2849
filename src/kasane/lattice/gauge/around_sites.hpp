// Loops over sites whose bodies read the links around a site: body(SitePlace, role), once for every site and role of [0, roles).
// Invariants: no order for for_each_around; sums are in one order for any number of threads, and the spaces agree to rounding.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/link_colour.hpp>
#include <kasane/lattice/gauge/link_paths.body.hpp>
#include <kasane/lattice/gauge/site_tiles.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#if defined(__CUDACC__)
#include <kasane/lattice/gauge/around_sites.cuda.hpp>
#endif

namespace kasane::lattice {

/// @tparam threads  of a CUDA block: around_threads, or wide_around_threads
template <int roles, int threads = around_threads, class Body>
void for_each_around(Cpu on, const Extents& n, const Body& body) {
    parallel_for_sites(on, roles * n.volume(), [&](index_t i) {
        const index_t half = n.half();
        body(SitePlace(n, n.site(static_cast<Parity>(i / half / roles), i % half)), static_cast<int>(i / half % roles));
    });
}

/// body(SitePlace, mu) for all links of a colour (link_colour.hpp).
template <class Body>
void for_links_of_colour(Cpu on, const Extents& n, int colour, const Body& body) {
    parallel_for_sites(on, n.volume(), [&](index_t i) {
        const Site x = n.site(i);
        body(SitePlace(n, x), direction_of_colour(x, colour));
    });
}

/// The sum of body(SitePlace, role), a Terms<K>.
template <int K, int roles, class Body>
Terms<K> sum_around(Cpu on, const Extents& n, const Body& body) {
    return reduce<Terms<K>>(on, roles * n.volume(), [&](index_t i) {
        const index_t half = n.half();
        return body(SitePlace(n, n.site(static_cast<Parity>(i / half / roles), i % half)), static_cast<int>(i / half % roles));
    });
}

}  // namespace kasane::lattice
