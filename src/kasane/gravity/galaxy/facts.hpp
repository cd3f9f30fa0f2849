// Key numbers of a model before a run: sizes, speeds, times, virial ratio, and suggested softening and step. They are those of the model
// itself, not of a sample. Units: the model's.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

/// Facts of one component. Numbers that do not apply to it (those of disks, the sizes of a black hole) are 0.
struct ComponentFacts {
    std::string label, law;
    index_t count = 0;
    double mass = 0, particle_mass = 0;
    double half_mass_radius = 0;  ///< radius of the sphere with half of its mass [length]
    double dispersion = 0;        ///< velocity dispersion along one direction, rms over the component, without rotation [velocity]
    double dynamical_time = 0;    ///< sqrt(r^3 / (G M(r))) at the half-mass radius, M of all components [time]
    double clamped_fraction = 0, clamped_radius = 0;  ///< mass for which f(E) is clamped, relative, and where most of it is [length]
    double least_q = 0, least_q_radius = 0;           ///< disks: smallest Toomre Q, and its radius [length]
    double density_miss = 0, dispersion_miss = 0;     ///< disks: deviations of surface density and sigma_R, see DiskSystem::misses()
    double suggested_softening = 0;                   ///< see suggested_softening()
};

struct GalaxyFacts {
    index_t count = 0;
    double mass = 0;
    double half_mass_radius = 0;     ///< of all components without a black hole [length]
    double escape_speed = 0;         ///< escape speed at escape_radius [velocity]
    double escape_radius = 0;        ///< 0, the centre; with a black hole a hundredth of the smallest half-mass radius [length]
    double virial_ratio = 0;         ///< 2K / |W| of the model: 1 up to the approximations of disks; 0: all particles are at rest
    double dynamical_time = 0;       ///< at the half-mass radius [time]
    double crossing_time = 0;        ///< 2 r_h / (rms speed of all components) [time]
    double suggested_softening = 0;  ///< the smallest of the components [length]
    double suggested_step = 0;       ///< step shared by all particles [time]
    double suggested_dt_max = 0;     ///< longest step of block steps, a power of two [time]
    std::vector<ComponentFacts> components{};
    std::vector<std::string> warnings{};  ///< messages of cautions(); a caller that knows keys and units replaces them
};

GalaxyFacts facts(const Galaxy& galaxy, Cpu on = {});

/// Suggests two thirds of the mean distance of the particles in the densest region that they resolve, which is taken to be the sphere
/// around the centre with 1% of them, at least 8. A softening 1.5 to 2 times smaller than that distance balances the noise of few particles
/// against the bias of softened forces.                                       [Rodionov & Sotnikova 2005, Astron. Rep. 49, 470]
/// @param radius  of that sphere [length]   @param particles  number of particles inside it
double suggested_softening(double radius, double particles);

}  // namespace kasane::gravity
