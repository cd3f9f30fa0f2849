// A gauge field on the host, in double precision: what files hold and users touch.
// Invariant: links[4 * site + mu], sites in lexicographic order (x fastest), mu = x, y, z, t; boundary signs of the quarks are never
// multiplied into the links.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/su3.hpp>

#include <vector>

namespace kasane::lattice {

struct GaugeField {
    Extents extents;
    std::vector<Su3<double>> links;

    GaugeField() = default;
    explicit GaugeField(const Extents& n) : extents(n), links(static_cast<std::size_t>(4 * n.volume())) {}  ///< all zero

    Su3<double>& link(index_t site, int mu) { return links[static_cast<std::size_t>(4 * site + mu)]; }
    const Su3<double>& link(index_t site, int mu) const { return links[static_cast<std::size_t>(4 * site + mu)]; }
    const Su3<double>& link(const Site& s, int mu) const { return link(extents.lexicographic(s), mu); }
};

}  // namespace kasane::lattice
