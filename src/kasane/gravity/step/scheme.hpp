// The steps of one simulation: its grid, its criterion, and the length that stands for eps where that is zero.
#pragma once

#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/step/level.hpp>
#include <kasane/gravity/step/steps.hpp>

namespace kasane::gravity {

struct Scheme {
    enum class Kind { constant, shared, blocks };

    Kind kind = Kind::constant;
    TimeGrid grid;
    StepRule rule;
    double computed_length = 0;  ///< where eps is zero and no length was given [length]

    Scheme() = default;
    /// @param known_length  computed_length of an earlier life of the run, or 0
    Scheme(const Steps& steps, double softening, double known_length, const Particles& particles);
};

/// Mean distance of neighbours inside the half-mass radius r: (4 pi r^3 / (3 n))^(1/3) for the n particles inside; of all particles
/// where a single one holds half the mass at the centre; 1 where they all are at one place.
double mean_distance(const Particles& particles);

}  // namespace kasane::gravity
