// Step scheme of a simulation: the time grid, the criterion, and the length that replaces eps where eps is zero.
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/step/level.hpp>
#include <kasane/gravity/step/steps.hpp>

#include <functional>

namespace kasane::gravity {

struct Scheme {
    enum class Kind { constant, shared, blocks };

    Kind kind = Kind::constant;
    TimeGrid grid;
    StepRule rule;
    double computed_length = 0;  ///< replaces eps if eps is zero and no length was given [length]

    Scheme() = default;
    /// @param softening  of all particles, or with `per_particle` the smallest
    /// @param known_length  computed_length of an earlier segment of the run, or 0
    Scheme(const Steps& steps, double softening, bool per_particle, double known_length, const Particles& particles);
    /// @param distance  called where mean_distance() of the particles is needed
    Scheme(const Steps& steps, double softening, bool per_particle, double known_length, const std::function<double()>& distance);
};

/// Mean distance of neighbours inside the half-mass radius r: (4 pi r^3 / (3 n))^(1/3) for the n particles inside [length]. Where r is 0
/// (half of the mass is at the centre), r is the radius of all particles; 1 where all particles are at one position.
double mean_distance(const Particles& particles);

}  // namespace kasane::gravity
