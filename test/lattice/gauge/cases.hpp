// Sizes and tolerances that the tests of gauge fields share.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice {

/// Four different extents, so that exchanged directions show.
constexpr Extents unequal_extents{{2, 4, 6, 8}};
/// Tolerance for a link's distance from SU(3): a determinant is six products of three numbers, which are twenty roundings of 1e-16.
constexpr double su3_rounding = 5e-15;

}  // namespace kasane::lattice
