// A quark field on the host, in double precision: sources and solutions.
// Invariant: values[(site * 4 + spin) * 3 + colour], sites in lexicographic order (x fastest); spins in the DeGrand-Rossi basis:
//   g1 = ((0, i s1), (-i s1, 0))  g2 = ((0, -i s2), (i s2, 0))  g3 = ((0, i s3), (-i s3, 0))  g4 = ((0, 1), (1, 0))
//   g5 = g1 g2 g3 g4 = diag(1, 1, -1, -1), so that the first two spins are one chirality and the last two the other.
#pragma once

#include <kasane/lattice/geometry.hpp>

#include <complex>
#include <vector>

namespace kasane::lattice {

/// A quark field of a lattice.
struct SpinorField {
    Extents extents;                           ///< of the lattice
    std::vector<std::complex<double>> values;  ///< [12 volume] values[(site * 4 + spin) * 3 + colour]

    /// No field.
    SpinorField() = default;
    /// All zero. @throws LogicError: extents that are not even and at least 2
    explicit SpinorField(const Extents& n) : extents(required(n)), values(static_cast<std::size_t>(12 * n.volume())) {}

    /// The number of a site (lexicographic), spin and colour.
    std::complex<double>& at(index_t site, int spin, int colour) {
        return values[static_cast<std::size_t>((site * 4 + spin) * 3 + colour)];
    }
    /// The number of a site (lexicographic), spin and colour.
    std::complex<double> at(index_t site, int spin, int colour) const {
        return values[static_cast<std::size_t>((site * 4 + spin) * 3 + colour)];
    }
};

}  // namespace kasane::lattice
