// Galaxies for the studies of initial conditions: every spherical law alone, in units of its mass and scale (G = 1) or, for extended
// haloes, with 1e12 Msun and 10 kpc; and galaxies of several components. Galactic units: kpc, km/s, 1e10 Msun.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

struct NamedGalaxy {
    std::string name;
    gravity::GalaxyModel model;
    bool galactic = false;  ///< in galactic units; otherwise G = 1
};

/// One galaxy for each law of a sphere. Laws with infinite mass are truncated at 20 scales; tables contain a Plummer sphere, as rho(r) and
/// as Sigma(R).
std::vector<NamedGalaxy> single_spheres(index_t count);

/// The shipped model models/m31.toml, the M31 of the GOTHIC benchmarks: NFW halo, Sersic stellar halo, Hernquist bulge, and the
/// exponential disk (optional); particles of equal mass. @throws InputError: the model files were not found
gravity::GalaxyModel m31_model(index_t count, bool with_disk = true);

/// The halo and the disk of M31.
gravity::GalaxyModel disk_in_halo(index_t count);

/// A Hernquist bulge with a black hole of 0.2% of its mass; the truncation differs from that of models/black-hole-bulge.toml.
gravity::GalaxyModel black_hole_bulge(index_t count);

}  // namespace kasane::bench
