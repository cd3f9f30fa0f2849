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

    /// From one number of a link to its next: the sites of a parity, made an odd number of cache lines. (Where it is a power of 2, all of
    /// a link's numbers share one set of a CPU's cache: sweeps of 16^4 took 2.3 times as long as those of 12^4 for each link.)
    static KS_FN index_t stride(const Extents& n) { return ((n.half() + 7) / 8 | 1) * 8; }
    /// Where the links of a parity and direction begin.
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
    /// For reading and writing.
    LinksView view() { return {data.data(), extents}; }
    /// For reading alone.
    LinksView view() const { return {const_cast<double*>(data.data()), extents}; }
    /// Where they are.
    S space() const { return data.space(); }
};

/// The links of the host copied to a space.
template <Space S>
Links<S> links_on(S on, const GaugeField& from);
/// The links of a space copied to the host.
template <Space S>
GaugeField to_gauge_field(const Links<S>& from);

}  // namespace kasane::lattice
