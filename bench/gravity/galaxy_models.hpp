// Galaxies that the studies of initial conditions are made of: every spherical law alone, in units of its mass and scale (G = 1) or, of
// extended haloes, with 1e12 Msun and 10 kpc; and galaxies of many components. Galactic units: kpc, km/s, 1e10 Msun.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

struct NamedGalaxy {
    std::string name;
    gravity::GalaxyModel model;
    bool galactic = false;  ///< galactic units, else G = 1
};

/// Every law of a sphere, alone; those of infinite mass cut at 20 scales. Tables hold a Plummer sphere, as rho(r) and as Sigma(R).
std::vector<NamedGalaxy> single_spheres(index_t count);

/// The shipped model models/m31.toml, the M31 of the GOTHIC benchmarks: NFW halo, Sersic stellar halo, Hernquist bulge, and the
/// exponential disk unless left out; equal masses. @throws InputError: the model files are not where the program looks for them
gravity::GalaxyModel m31_model(index_t count, bool with_disk = true);

/// M31's halo and disk alone.
gravity::GalaxyModel disk_in_halo(index_t count);

/// A Hernquist bulge with a black hole of 0.2% of its mass; its truncation is not that of models/black-hole-bulge.toml.
gravity::GalaxyModel black_hole_bulge(index_t count);

}  // namespace kasane::bench
