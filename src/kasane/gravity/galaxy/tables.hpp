// What a galaxy's components look like, for its report: profiles on radii, distribution functions, and the numbers people ask for.
// Units: the model's (its G is in all speeds and potentials), unlike the galaxy's own, where G = 1.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

/// One component on the radii of GalaxyTables; spheres: r; disks: R in the plane. Columns that a component has not are empty.
struct ComponentTable {
    std::string label, law;
    std::vector<double> density;            ///< rho(r); disks: in the plane [mass / length^3]
    std::vector<double> surface_density;    ///< disks [mass / length^2]
    std::vector<double> mass;               ///< enclosed by a sphere (disks: by a cylinder) [mass]
    std::vector<double> sigma_radial, sigma_tangential;       ///< spheres [velocity]; one direction each
    std::vector<double> sigma_R, sigma_phi, sigma_z;          ///< disks [velocity]
    std::vector<double> rotation, height, toomre_q;           ///< disks
    std::vector<double> rotation_speed;                       ///< sqrt(G M_k(r) / r) of the component alone [velocity]
    std::vector<double> energy, distribution;  ///< spheres: binding energy E [velocity^2], f(E) [mass / (length velocity)^3]
};

struct GalaxyTables {
    std::vector<double> radius;     ///< [length], logarithmic
    std::vector<double> mass, potential, circular_speed, escape_speed;  ///< of everything; Phi < 0
    std::vector<ComponentTable> components;
};

struct ComponentFacts {
    std::string label, law;
    index_t count = 0;
    double mass = 0, particle_mass = 0;
    double half_mass_radius = 0;   ///< of a sphere that holds half of it [length]
    double dynamical_time = 0;     ///< sqrt(r^3 / (G M(r))) at the half-mass radius, M of everything [time]
    double clamped_fraction = 0;   ///< of f(E)
    double least_q = 0, least_q_radius = 0;  ///< disks
    double suggested_softening = 0;
};

struct GalaxyFacts {
    index_t count = 0;
    double mass = 0;
    double half_mass_radius = 0;
    double escape_speed = 0;      ///< at the centre; of the softened potential's scale with a black hole: at the innermost half-mass radius / 100
    double virial_ratio = 0;      ///< 2K/|W| of the model (not of a sample): 1 up to the approximations of disks
    double dynamical_time = 0;    ///< at the half-mass radius
    double crossing_time = 0;     ///< 2 r_h / sigma at the half-mass radius
    double suggested_softening = 0, suggested_step = 0;
    std::vector<ComponentFacts> components;
};

GalaxyTables tables(const Galaxy& galaxy, int radii = 257);
GalaxyFacts facts(const Galaxy& galaxy);

}  // namespace kasane::gravity
