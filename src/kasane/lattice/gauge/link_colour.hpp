// Four sets of links, the colours: all links of one colour are updated at once. Host and device.
// Invariants: the four links of a plaquette have four colours, so no link is in the staple of one of its colour; so have the four links
// that leave a site. All extents are even.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice {

inline constexpr int link_colours = 4;

/// The direction of the link of a colour that leaves x. @param x  only whether its coordinates are odd matters
///
/// Colours and directions 0, 1, 2, 3 are taken as the elements of the field of four elements: the sum is XOR, the product with w = 2 has
/// 1 -> 2 -> 3 -> 1, and 1 + w = w^2. A step along nu adds mu + nu to the colour of the links along mu:
///   colour(x, mu) = w mu + sum over odd x_nu of (mu + nu).
/// The links of a plaquette, U_mu(x), U_mu(x+nu), U_nu(x), U_nu(x+mu), have the colours a, a + s, b, b + s with s = mu + nu, not 0, and
/// a - b = w s or w^2 s, neither 0 nor s.
KS_FN int direction_of_colour(const Site& x, int colour) {
    const int odd = ((x[1] ^ x[3]) & 1) | ((x[2] ^ x[3]) & 1) << 1;  // the sum of nu over odd x_nu
    const int rest = colour ^ odd;                                   // mu times w for even x, times 1 + w for odd x
    const int times_w = (rest << 1 & 3) ^ (rest >> 1) * 3;
    return x.parity() == Parity::odd ? times_w : times_w ^ rest;
}

}  // namespace kasane::lattice
