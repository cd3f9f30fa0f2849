// Links of some slices of a lattice in contiguous memory, for messages.
#pragma once

#include <kasane/lattice/distributed/site_numbers.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// The slices first, ..., first + width - 1 perpendicular to a direction; of them the sites of one parity or all, and one link or all.
struct LinkSlices {
    Extents extents;
    int along = 0, first = 0, width = 1;
    int parity = -1, mu = -1;  ///< -1: all

    /// Other extents than that along the direction are even, so that each slice has as many sites of both parities.
    KS_FN index_t sites() const { return extents.volume() / extents[along] * width / (parity < 0 ? 1 : 2); }
    KS_FN index_t links() const { return sites() * (mu < 0 ? 4 : 1); }
    /// The site with this number; equal in slices of the same extents at coordinates that differ by an even number.
    KS_FN Site site(index_t number) const {
        const index_t slice = sites() / width;
        Site s{};
        s[along] = first + static_cast<int>(number / slice);
        index_t rest = number % slice * (parity < 0 ? 1 : 2);
        int fastest = -1, sum = s[along] + (parity < 0 ? 0 : parity);
        for (int nu = 0; nu < 4; ++nu) {
            if (nu == along) continue;
            s[nu] = static_cast<int>(rest % extents[nu]);
            rest /= extents[nu];
            sum += s[nu];
            if (fastest < 0) fastest = nu;
        }
        if (parity >= 0) s[fastest] += sum & 1;
        return s;
    }
};

/// Copies the links of slices to memory, [mu][18][site].
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
