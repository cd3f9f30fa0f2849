// A gauge field on the host, in double precision: the form in which files are read and written.
// Invariant: links[4 * site + mu], sites in lexicographic order (x fastest), mu = x, y, z, t; boundary signs of the quarks are never
// multiplied into the links.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/su3.hpp>

#include <vector>

namespace kasane::lattice {

/// Links of a lattice.
struct GaugeField {
    Extents extents;                 ///< of the lattice
    std::vector<Su3<double>> links;  ///< [4 volume] links[4 * site + mu]

    /// A field without links.
    GaugeField() = default;
    /// All zero. @throws LogicError: extents that are not even and at least 2
    explicit GaugeField(const Extents& n) : extents(required(n)), links(static_cast<std::size_t>(4 * n.volume())) {}

    /// The link that leaves a site (lexicographic number) along mu.
    Su3<double>& link(index_t site, int mu) { return links[static_cast<std::size_t>(4 * site + mu)]; }
    /// The link that leaves a site (lexicographic number) along mu.
    const Su3<double>& link(index_t site, int mu) const { return links[static_cast<std::size_t>(4 * site + mu)]; }
    /// The link that leaves a site along mu.
    const Su3<double>& link(const Site& s, int mu) const { return link(extents.lexicographic(s), mu); }
};

}  // namespace kasane::lattice
