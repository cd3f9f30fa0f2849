// The spherical part of the M31 of the GOTHIC benchmarks, in the galactic units (kpc, km/s, 1e10 Msun): NFW halo, stellar halo and
// Hernquist bulge, each in equilibrium with all three. Equal masses (to the rounding of counts), type 1.
// Parameters: halo 8.11e11 Msun, r_s 7.63 kpc, cut at 250 kpc (width 25); stellar halo Sersic n = 2.2, 8e9 Msun, 9.0 kpc, cut at
// 176 kpc (20); bulge 3.24e10 Msun, 0.61 kpc, cut at 6.1 kpc (0.61).
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles.hpp>

namespace kasane::bench {

/// Softening of those benchmarks [kpc].
inline constexpr double m31_softening = 1. / 64;

/// @param count  at least 3
gravity::Particles m31_spheres(index_t count, std::uint64_t seed = 1, Cpu on = {});

}  // namespace kasane::bench
