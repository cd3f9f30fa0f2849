// Links of some slices of a lattice in contiguous memory, for messages.
#pragma once

#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/distributed/site_numbers.hpp>
#include <kasane/lattice/gauge/link_colour.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// The slices first, ..., first + width - 1 of an extended lattice perpendicular to a direction; of each site one link or all.
struct LinkSlices {
    LocalSites lattice;
    int along = 0, first = 0, width = 1;
    int colour = -1;  ///< of the links, in the whole lattice; -1: all

    KS_FN index_t sites() const { return lattice.extended.volume() / lattice.extended[along] * width; }
    KS_FN index_t links() const { return sites() * (colour < 0 ? 4 : 1); }
    /// The site with this number.
    KS_FN Site site(index_t number) const {
        const index_t slice = sites() / width;
        Site s{};
        s[along] = first + static_cast<int>(number / slice);
        index_t rest = number % slice;
        for (int nu = 0; nu < 4; ++nu) {
            if (nu == along) continue;
            s[nu] = static_cast<int>(rest % lattice.extended[nu]);
            rest /= lattice.extended[nu];
        }
        return s;
    }
    /// Direction of the link with this number that is copied of a site.
    KS_FN int direction(const Site& extended_site, int number) const {
        return colour < 0 ? number : direction_of_colour(lattice.in_lattice(extended_site), colour);
    }
};

/// Copies the links of slices to memory, [link of a site][18][site].
template <Space S>
void pack(const LinkSlices& slices, const Links<S>& u, double* memory);
/// Copies them back.
template <Space S>
void unpack(const LinkSlices& slices, const double* memory, Links<S>& u);
/// The same of all numbers of the sites, [number][site].
template <Space S>
void pack(S on, const LinkSlices& slices, const SiteNumbers& from, double* memory);
template <Space S>
void unpack(S on, const LinkSlices& slices, const double* memory, const SiteNumbers& to);

}  // namespace kasane::lattice
