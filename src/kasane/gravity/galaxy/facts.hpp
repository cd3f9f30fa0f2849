// The numbers that people ask of a model before they run it: sizes, speeds, times, how well it is balanced, and which softening and
// step suit its particles. Of the model itself, not of a sample. Units: the model's.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

/// Numbers that a component has not (those of a disk, a black hole's sizes) are 0.
struct ComponentFacts {
    std::string label, law;
    index_t count = 0;
    double mass = 0, particle_mass = 0;
    double half_mass_radius = 0;  ///< of a sphere that holds half of it [length]
    double dispersion = 0;        ///< of velocities along one direction, rms over the component, without rotation [velocity]
    double dynamical_time = 0;    ///< sqrt(r^3 / (G M(r))) at the half-mass radius, M of everything [time]
    double clamped_fraction = 0, clamped_radius = 0;  ///< of f(E): mass that it touches, and where most of it lies
    double least_q = 0, least_q_radius = 0;           ///< disks
    double density_miss = 0, dispersion_miss = 0;     ///< disks: of surface density and sigma_R, see DiskSystem::misses()
    double suggested_softening = 0;                   ///< see suggested_softening()
};

struct GalaxyFacts {
    index_t count = 0;
    double mass = 0;
    double half_mass_radius = 0;     ///< of everything but a black hole
    double escape_speed = 0;         ///< at escape_radius
    double escape_radius = 0;        ///< 0, the centre; with a black hole: a hundredth of the smallest half-mass radius
    double virial_ratio = 0;         ///< 2K / |W| of the model: 1 up to the approximations of disks; 0: nothing moves
    double dynamical_time = 0;       ///< at the half-mass radius
    double crossing_time = 0;        ///< 2 r_h / (rms speed of everything)
    double suggested_softening = 0;  ///< the least of the components'
    double suggested_step = 0;       ///< for all particles together [time]
    double suggested_dt_max = 0;     ///< longest step of block steps, a power of two [time]
    std::vector<ComponentFacts> components{};
    std::vector<std::string> warnings{};  ///< of cautions(); who knows their places and units replaces them
};

GalaxyFacts facts(const Galaxy& galaxy, Cpu on = {});

/// Two thirds of the mean distance of the particles in the densest place that they resolve, which is taken to be the sphere about the
/// centre that holds 1% of them, at least 8: a softening 1.5 to 2 times smaller than that distance balances the noise of few particles
/// against the bias of softened forces.                                       [Rodionov & Sotnikova 2005, Astron. Rep. 49, 470]
/// @param radius  of that sphere [length]   @param particles  inside it
double suggested_softening(double radius, double particles);

}  // namespace kasane::gravity
