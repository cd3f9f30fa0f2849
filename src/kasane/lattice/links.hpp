// The links on a space, in double precision, for updates, observables and the clover term. (The hops have their own storage.)
// Invariant: the same number of neighbouring sites is contiguous in memory, [parity][mu][18][checkerboard site], so that threads of
// consecutive sites read consecutive memory.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/gauge_field.hpp>

namespace kasane::lattice {

/// Reads and writes single links on host or device.
struct LinksView {
    double* data = nullptr;  ///< [2][4][18][stride]
    Extents extents;         ///< of the lattice

    /// Distance between successive numbers of a link: the sites of a parity, made an odd number of cache lines. (A power of 2 maps all
    /// numbers of a link to one set of a CPU's cache: sweeps of 16^4 took 2.3 times as long as those of 12^4 for each link.)
    static KS_FN index_t stride(const Extents& n) { return ((n.half() + 7) / 8 | 1) * 8; }
    /// First number of the links of a parity and direction.
    KS_FN index_t place(Parity p, int mu) const { return (static_cast<index_t>(p) * 4 + mu) * 18 * stride(extents); }
    /// The link that leaves a site, by its number among the sites of its parity.
    KS_FN Su3<double> load(Parity p, index_t checkerboard, int mu) const {
        const double* from = data + place(p, mu) + checkerboard;
        const index_t step = stride(extents);
        Su3<double> u;
        for (int k = 0; k < 9; ++k) u.e[k / 3][k % 3] = {from[2 * k * step], from[(2 * k + 1) * step]};
        return u;
    }
    /// Replaces that link.
    KS_FN void store(Parity p, index_t checkerboard, int mu, const Su3<double>& u) const {
        double* to = data + place(p, mu) + checkerboard;
        const index_t step = stride(extents);
        for (int k = 0; k < 9; ++k) {
            to[2 * k * step] = u.e[k / 3][k % 3].re;
            to[(2 * k + 1) * step] = u.e[k / 3][k % 3].im;
        }
    }
    /// The link that leaves a site along mu.
    KS_FN Su3<double> load(const Site& s, int mu) const { return load(s.parity(), extents.checkerboard(s), mu); }
    /// Replaces that link.
    KS_FN void store(const Site& s, int mu, const Su3<double>& u) const { store(s.parity(), extents.checkerboard(s), mu, u); }
};

/// Owns the links on a space.
template <Space S>
struct Links {
    Extents extents;         ///< of the lattice
    Buffer<double, S> data;  ///< as LinksView::data

    /// No links.
    Links() = default;
    /// Uninitialised links of a lattice.
    Links(S on, const Extents& n) : extents(n), data(on, 144 * LinksView::stride(n)) {}
    /// A view for reading and writing.
    LinksView view() { return {data.data(), extents}; }
    /// A view for reading only.
    LinksView view() const { return {const_cast<double*>(data.data()), extents}; }
    /// The space of the links.
    S space() const { return data.space(); }
};

/// Copies links from the host to a space.
template <Space S>
Links<S> links_on(S on, const GaugeField& from);
/// Copies links from a space to the host.
template <Space S>
GaugeField to_gauge_field(const Links<S>& from);

}  // namespace kasane::lattice
