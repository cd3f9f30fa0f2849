// What a run watches: energies, momenta, virial ratio, centre of mass, Lagrangian radii. Compensated sums on the host over
// chunks of fixed size, added in one order: results do not depend on the number of threads.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/particles.hpp>
#include <vector>

namespace kasane::gravity {

struct Diagnostics {
    double time = 0;
    double kinetic = 0;    ///< sum m v^2 / 2
    double potential = 0;  ///< sum m phi / 2
    /// 2K / |W| with W = sum m x . a and K both in the frame of the centre of mass; 1 in equilibrium, with softening too, where W
    /// differs from the potential energy. 0 when W is 0 (a lone particle).
    double virial_ratio = 0;
    double energy = 0;  ///< kinetic + potential
    Vec3<double> momentum;
    Vec3<double> angular_momentum;  ///< about the origin
    Vec3<double> center_of_mass;
    std::vector<double> lagrangian_radius;  ///< about the centre of mass, for lagrangian_fractions
};

/// Mass fractions of the Lagrangian radii that diagnostics carry.
inline constexpr double lagrangian_fractions[] = {0.1, 0.25, 0.5, 0.75, 0.9};

/// @param potential   phi per particle, with G     @param acceleration   per particle, for the virial W
/// @throws InputError when the lengths disagree, there is no particle, or the total mass is 0
Diagnostics diagnose(const Particles& particles, const std::vector<double>& potential, const std::vector<Vec3<double>>& acceleration,
                     double time, Cpu on = {});

/// @throws InputError when the total mass is 0
Vec3<double> center_of_mass(const Particles& particles, Cpu on = {});

/// For each fraction the least distance from `center` within which that share of the total mass lies (rounding of the masses' sum
/// apart); 0 for the fraction 0. @throws InputError: a fraction outside 0 to 1, or a total mass of 0
std::vector<double> lagrangian_radii(const Particles& particles, const Vec3<double>& center, const std::vector<double>& fractions);

}  // namespace kasane::gravity
