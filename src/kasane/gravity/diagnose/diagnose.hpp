// Diagnostics of particles on the host: energies, momenta, virial ratio, centre of mass, Lagrangian radii. Compensated sums over chunks of
// fixed size, added in one order: results do not depend on the number of threads. Simulation::diagnostics() computes them on its space.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles/particles.hpp>
#include <vector>

namespace kasane::gravity {

/// Global quantities of a set of particles at one time, in the particles' units.
struct Diagnostics {
    double time = 0;       ///< of the particles [time]
    double kinetic = 0;    ///< sum m v^2 / 2 [mass length^2 / time^2]
    double potential = 0;  ///< sum m phi / 2 [mass length^2 / time^2]
    /// 2K / |W| with W = sum m x . a; K and W in the frame of the centre of mass. 1 in equilibrium, also with softening, where W differs
    /// from the potential energy. 0 when W is 0 (a single particle).
    double virial_ratio = 0;
    double energy = 0;                      ///< kinetic + potential [mass length^2 / time^2]
    Vec3<double> momentum;                  ///< sum m v [mass length / time]
    Vec3<double> angular_momentum;          ///< sum m x cross v, about the origin [mass length^2 / time]
    Vec3<double> center_of_mass;            ///< sum m x / sum m [length]
    std::vector<double> lagrangian_radius;  ///< about the centre of mass, one for each of lagrangian_fractions [length]
};

/// Mass fractions of Diagnostics::lagrangian_radius.
inline constexpr double lagrangian_fractions[] = {0.1, 0.25, 0.5, 0.75, 0.9};

/// Computes the diagnostics of the particles on the host.
/// @param particles  positions, velocities and masses are read
/// @param potential  [n] phi of each particle, with the factor G [length^2 / time^2]
/// @param acceleration  [n] of each particle, for the virial W [length / time^2]
/// @param time  copied to the result [time]
/// @param on  number of threads; the result does not depend on it
/// @throws InputError: the lengths disagree, there is no particle, or the total mass is 0
Diagnostics diagnose(const Particles& particles, const std::vector<double>& potential, const std::vector<Vec3<double>>& acceleration,
                     double time, Cpu on = {});

/// sum m x / sum m [length]. @throws InputError: the total mass is 0
Vec3<double> center_of_mass(const Particles& particles, Cpu on = {});

/// For each fraction, the smallest distance of a particle from `center` within which that fraction of the total mass lies [length]; 0 for
/// the fraction 0. The fractions may be in any order; a fraction counts as reached within 1e-14 of it, so that rounding of the sum of the
/// masses does not matter.
/// @throws InputError: a fraction outside 0 to 1, or a total mass of 0
std::vector<double> lagrangian_radii(const Particles& particles, const Vec3<double>& center, const std::vector<double>& fractions);

}  // namespace kasane::gravity
