// What a run watches: energies, momenta, virial ratio, centre of mass, Lagrangian radii. Compensated sums on the host,
// in an order that does not depend on threads.
#pragma once

#include <kasane/gravity/particles.hpp>

#include <vector>

namespace kasane::gravity {

struct Diagnostics {
    double time = 0;
    double kinetic = 0;          ///< sum m v^2 / 2
    double potential = 0;        ///< sum m phi / 2
    double virial_ratio = 0;     ///< -2 K / W... 1 in equilibrium when W is the virial of the softened force
    double energy = 0;           ///< kinetic + potential
    Vec3<double> momentum;
    Vec3<double> angular_momentum;  ///< about the origin
    Vec3<double> center_of_mass;
    std::vector<double> lagrangian_radius;  ///< about the centre of mass, for lagrangian_fractions
};

/// Mass fractions of the Lagrangian radii that diagnostics carry.
inline constexpr double lagrangian_fractions[] = {0.1, 0.25, 0.5, 0.75, 0.9};

/// @param potential   phi per particle, with G     @param acceleration   for the virial W = sum m x . a; with softening W != potential
Diagnostics diagnose(const Particles& particles, const std::vector<double>& potential, const std::vector<Vec3<double>>& acceleration,
                     double time);

/// Radii about `center` that hold the given fractions of the total mass.
std::vector<double> lagrangian_radii(const Particles& particles, const Vec3<double>& center, const std::vector<double>& fractions);

}  // namespace kasane::gravity
