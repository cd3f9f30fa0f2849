// Tables of a galaxy's components for its report: profiles on radii and distribution functions.
// Units: the model's (speeds and potentials include its G), unlike those of Galaxy, where G = 1.
// Invariants: columns are empty or as long as the radii; a value that is not defined at a radius (for example speeds where there is no
// density) is NaN.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

/// One component on the radii of GalaxyTables (spheres: r; disks: R in the plane). Columns that do not apply to it are empty.
struct ComponentTable {
    std::string label, law;
    std::vector<double> density;                         ///< rho(r); disks: in the plane [mass / length^3]
    std::vector<double> surface_density;                 ///< disks [mass / length^2]
    std::vector<double> mass;                            ///< enclosed by a sphere (disks: by a cylinder) [mass]
    std::vector<double> sigma_radial, sigma_tangential;  ///< spheres [velocity]; one direction each
    std::vector<double> sigma_R, sigma_phi, sigma_z;     ///< disks [velocity]
    std::vector<double> rotation, height, toomre_q;      ///< disks
    /// Circular speed in the potential of the component alone [velocity]; 0 where it attracts outwards. Elsewhere the squares of all
    /// components add up to circular_speed's.
    std::vector<double> rotation_speed;
    std::vector<double> energy, distribution;  ///< spheres: binding energy E, ascending [velocity^2], f(E) [mass / (length velocity)^3]
};

struct GalaxyTables {
    std::vector<double> radius;                                   ///< [length], logarithmic; empty if the only component is a black hole
    std::vector<double> mass;                                     ///< of all components, inside a sphere [mass]
    std::vector<double> potential, circular_speed, escape_speed;  ///< of all components, in the plane; Phi < 0
    std::vector<ComponentTable> components;
};

/// @param radii  number of radii, at least 2, from the radius that encloses 1e-6 of a component's mass to that which encloses 0.999
GalaxyTables tables(const Galaxy& galaxy, int radii = 257, Cpu on = {});

}  // namespace kasane::gravity
