// A hypercubic periodic lattice: extents, site numbers, the even-odd split.
// Invariants: every extent is even and at least 2, so that a hop always changes the parity of a site, also through the boundary; x runs
// fastest in every numbering; directions are 0 x, 1 y, 2 z, 3 t.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>

#include <string>

namespace kasane::lattice {

/// Parity of x + y + z + t.
enum class Parity : int {
    even = 0,  ///< x + y + z + t is even
    odd = 1,   ///< it is odd
};
/// The other parity.
KS_FN Parity other(Parity p) { return p == Parity::even ? Parity::odd : Parity::even; }

/// A site by its coordinates.
struct Site {
    int x[4];  ///< x, y, z, t
    /// Coordinate along mu.
    KS_FN int operator[](int mu) const { return x[mu]; }
    /// Coordinate along mu.
    KS_FN int& operator[](int mu) { return x[mu]; }
    /// Parity of the sum of the coordinates.
    KS_FN Parity parity() const { return static_cast<Parity>((x[0] + x[1] + x[2] + x[3]) & 1); }
};

/// The extents of a lattice, and its site numbers.
struct Extents {
    int n[4] = {0, 0, 0, 0};  ///< x, y, z, t
    /// Extent along mu.
    KS_FN int operator[](int mu) const { return n[mu]; }
    /// Number of sites.
    KS_FN index_t volume() const { return static_cast<index_t>(n[0]) * n[1] * n[2] * n[3]; }
    KS_FN index_t half() const { return volume() / 2; }  ///< sites of one parity
    /// Whether all extents are equal.
    bool operator==(const Extents&) const = default;

    /// Lexicographic number, x + X (y + Y (z + Z t)); the order of fields on the host and of most files.
    KS_FN index_t lexicographic(const Site& s) const { return s[0] + n[0] * (s[1] + n[1] * (s[2] + static_cast<index_t>(n[2]) * s[3])); }
    /// The site of a lexicographic number.
    KS_FN Site site(index_t lexicographic) const {
        Site s{};
        for (int mu = 0; mu < 4; ++mu) {
            s[mu] = static_cast<int>(lexicographic % n[mu]);
            lexicographic /= n[mu];
        }
        return s;
    }
    /// Number among the sites of its parity: half of the lexicographic number.
    KS_FN index_t checkerboard(const Site& s) const { return lexicographic(s) / 2; }
    /// The site of a parity and a number among the sites of that parity.
    KS_FN Site site(Parity p, index_t checkerboard) const {
        Site s = site(2 * checkerboard);
        s[0] += (s[1] + s[2] + s[3] + static_cast<int>(p)) & 1;
        return s;
    }
    /// The neighbour `steps` away along mu, around the boundary; |steps| <= n[mu].
    KS_FN Site shifted(Site s, int mu, int steps) const {
        s[mu] += steps;
        if (s[mu] >= n[mu]) s[mu] -= n[mu];
        if (s[mu] < 0) s[mu] += n[mu];
        return s;
    }
};

/// "8x8x8x16".
std::string text(const Extents& extents);

/// Checks extents. @throws InputError at `where` unless all are even, at least 2, and one parity's sites can be counted by 32 bits
void check_extents(const Extents& extents, const Where& where);
/// Returns the extents of a field that a program makes. @throws LogicError where check_extents() throws
const Extents& required(const Extents& extents);

}  // namespace kasane::lattice
