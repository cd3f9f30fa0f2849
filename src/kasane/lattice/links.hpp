// The links on a space, in double precision, for updates, observables and the clover term. (The hops have their own storage.)
// Invariant: the same complex number of neighbouring sites is contiguous in memory, [parity][mu][9][checkerboard site][real, imaginary], so
// that threads of consecutive sites read consecutive memory, 16 bytes at a time. (With planes of real numbers, the Wilson force on an H200
// took 1.5 times as long: twice as many requests to the first-level cache.)
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/gauge_field.hpp>

namespace kasane::lattice {

/// Loads the complex number at an address that is a multiple of 16; on a device, in one access.
KS_FN Complex<double> load_complex(const double* from) {
#if defined(__CUDA_ARCH__)
    const double2 z = *reinterpret_cast<const double2*>(from);
    return {z.x, z.y};
#else
    return {from[0], from[1]};
#endif
}
/// Stores a complex number at such an address.
KS_FN void store_complex(double* to, const Complex<double>& z) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<double2*>(to) = make_double2(z.re, z.im);
#else
    to[0] = z.re;
    to[1] = z.im;
#endif
}

/// Reads and writes single links on host or device.
struct LinksView {
    double* data = nullptr;  ///< [2][4][9][stride][2]
    Extents extents;         ///< of the lattice

    /// Distance between successive complex numbers of a link: the sites of a parity, made an odd number of cache lines. (A power of 2 maps
    /// all numbers of a link to one set of a CPU's cache: sweeps of 16^4 took 2.3 times as long as those of 12^4 for each link.)
    static KS_FN index_t stride(const Extents& n) { return ((n.half() + 7) / 8 | 1) * 8; }
    /// The first complex number of a link, by the number of its site among those of its parity. The next ones follow at distances of
    /// 2 stride(extents).
    KS_FN double* link(Parity p, index_t checkerboard, int mu) const {
        return data + (static_cast<index_t>(p) * 4 + mu) * 18 * stride(extents) + 2 * checkerboard;
    }
    /// The link that leaves a site, by its number among the sites of its parity.
    KS_FN Su3<double> load(Parity p, index_t checkerboard, int mu) const {
        const double* from = link(p, checkerboard, mu);
        const index_t step = 2 * stride(extents);
        Su3<double> u;
        for (int k = 0; k < 9; ++k) u.e[k / 3][k % 3] = load_complex(from + k * step);
        return u;
    }
    /// Replaces the link that leaves a site, by its number among the sites of its parity.
    KS_FN void store(Parity p, index_t checkerboard, int mu, const Su3<double>& u) const {
        double* to = link(p, checkerboard, mu);
        const index_t step = 2 * stride(extents);
        for (int k = 0; k < 9; ++k) store_complex(to + k * step, u.e[k / 3][k % 3]);
    }
    /// The link that leaves a site along mu.
    KS_FN Su3<double> load(const Site& s, int mu) const { return load(s.parity(), extents.checkerboard(s), mu); }
    /// Replaces the link that leaves a site along mu.
    KS_FN void store(const Site& s, int mu, const Su3<double>& u) const { store(s.parity(), extents.checkerboard(s), mu, u); }
};

/// Owns the links on a space.
template <Space S>
struct Links {
    Extents extents;         ///< of the lattice
    Buffer<double, S> data;  ///< as LinksView::data

    /// No links.
    Links() = default;
    /// Uninitialised links of a lattice. @throws LogicError: extents that are not even and at least 2
    Links(S on, const Extents& n) : extents(required(n)), data(on, 144 * LinksView::stride(n)) {}
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
/// Copies links within the memory of a space. @param from  [4 volume] in the order of GaugeField::links, in memory of the space
template <Space S>
Links<S> links_on(S on, const Extents& extents, View<const Su3<double>> from);
/// Whether all numbers of the links are finite.
template <Space S>
bool are_finite(const Links<S>& links);
/// Which links links_outside_su3() compares with SU(3).
enum class LinksAs {
    stored,       ///< the links
    reunitarised  ///< the projections that reunitarise() stores
};
/// The number of links whose distance_from_su3() is above a tolerance or not finite. Links of a file in single precision are 1e-7 from
/// SU(3); of a matrix whose first two rows are zero or parallel reunitarise() makes none of SU(3).
template <Space S>
index_t links_outside_su3(const Links<S>& links, double tolerance = 1e-5, LinksAs as = LinksAs::stored);
/// Copies links from a space to the host.
template <Space S>
GaugeField to_gauge_field(const Links<S>& from);
/// Copies links within the memory of their space. @param to  [4 volume] in the order of GaugeField::links, in memory of the space
template <Space S>
void copy_links(const Links<S>& from, View<Su3<double>> to);

}  // namespace kasane::lattice
