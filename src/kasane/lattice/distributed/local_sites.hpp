// The sites of a local lattice inside one that is extended by a halo, and the bodies of one lattice on them. Plain data for host and
// device. Invariants: a divided direction has `width` more sites on both sides; a direction that is not divided has none and goes around
// locally. So the neighbours of a local site, up to `width` steps along each direction, are found in the extended lattice as on one device.
// A site's parity in the extended lattice differs from its parity in the whole one where the widths add up to an odd number.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice {

struct LocalSites {
    Extents lattice, local, extended;
    Site origin{};      ///< first site of the local lattice in the whole one
    int width[4] = {};  ///< sites of the halo on each side

    /// A local site, by parity and number in the local lattice, in the extended one.
    KS_FN Site extended_site(Parity p, index_t checkerboard) const { return shifted(local.site(p, checkerboard)); }
    /// A local site, by its lexicographic number in the local lattice, in the extended one.
    KS_FN Site extended_site(index_t lexicographic) const { return shifted(local.site(lexicographic)); }
    /// The same site in the whole lattice.
    KS_FN Site in_lattice(Site extended_site) const {
        for (int mu = 0; mu < 4; ++mu) extended_site[mu] += origin[mu] - width[mu];
        return extended_site;
    }
    /// Index (parity, checkerboard) in the extended lattice of the local site with index i.
    KS_FN index_t site_index(index_t i) const {
        const Site s = extended_site(static_cast<Parity>(i / local.half()), i % local.half());
        return static_cast<index_t>(s.parity()) * extended.half() + extended.checkerboard(s);
    }
    /// Index (parity, mu, checkerboard) in the extended lattice of the local link with index i.
    KS_FN index_t link_index(index_t i) const {
        const index_t mu = i / local.half() % 4;
        const Site s = extended_site(static_cast<Parity>(i / local.half() / 4), i % local.half());
        return (static_cast<index_t>(s.parity()) * 4 + mu) * extended.half() + extended.checkerboard(s);
    }

   private:
    KS_FN Site shifted(Site s) const {
        for (int mu = 0; mu < 4; ++mu) s[mu] += width[mu];
        return s;
    }
};

/// A body that takes indices of sites, on the local ones.
template <class Body>
struct OnLocalSites {
    LocalSites sites;
    Body body;
    KS_FN auto operator()(index_t i) const { return body(sites.site_index(i)); }
};
/// A body that takes indices of links, on the local ones.
template <class Body>
struct OnLocalLinks {
    LocalSites sites;
    Body body;
    KS_FN void operator()(index_t i) const { body(sites.link_index(i)); }
};

}  // namespace kasane::lattice
