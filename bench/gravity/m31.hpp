// The spherical part of the M31 of the GOTHIC benchmarks, in the galactic units (kpc, km/s, 1e10 Msun): NFW halo and Hernquist bulge
// as one isotropic equilibrium, f(E) of the whole density in the whole potential. Equal masses, type 1.
// Parameters: halo 8.11e11 Msun, r_s 7.63 kpc, cut at 250 kpc (width 25); bulge 3.24e10 Msun, 0.61 kpc, cut at 6.1 kpc (0.61).
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles.hpp>

namespace kasane::bench {

/// Softening of those benchmarks [kpc].
inline constexpr double m31_softening = 1. / 64;

gravity::Particles m31_spheres(index_t count, std::uint64_t seed = 1, Cpu on = {});

}  // namespace kasane::bench
