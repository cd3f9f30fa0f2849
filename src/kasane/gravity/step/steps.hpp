// How time advances: one constant step, one adaptive step for all, or power-of-two blocks. Plain values.
// Every scheme is a kick-drift-kick in predict-evaluate-correct form: v' = v + a dt/2, x' = x + v' dt, (new a), v = v' + a_new dt/2.
// Invariant: at every multiple of dt (dt_max for the adaptive ones) since the start all particles are at the same time.
#pragma once

#include <cstdint>
#include <variant>

namespace kasane::gravity {

/// Kick-drift-kick with one constant step for all: second order, symplectic, time-reversible.
struct Leapfrog {
    double dt = 0;  ///< [time], not 0; negative runs backwards
};

/// Which length over which rate limits a step.
enum class StepCriterion {
    velocity_and_acceleration,  ///< eta min(eps / |v|, sqrt(eps / |a|))  (Miki & Umemura 2017)
    acceleration,               ///< eta sqrt(eps / |a|)
};

/// Steps dt_max / 2^k chosen from the criterion. At zero softening the length is `length`, and velocities do not enter.
struct StepControl {
    double dt_max = 0;  ///< [time], above 0: the longest step; everything is at one time at its multiples
    double eta = 0.5;   ///< accuracy, above 0
    StepCriterion criterion = StepCriterion::velocity_and_acceleration;
    int deepest = 24;   ///< the shortest step is dt_max / 2^deepest; 0 ... 30
    double length = 0;  ///< [length] in place of eps when that is zero; 0: mean distance of particles inside the half-mass radius
};

/// One step for all, the shortest that a particle asks for.
struct AdaptiveSteps : StepControl {};

/// A step of its own for each particle (block steps on the grid of dt_max / 2^k): a particle may double its step where the grid
/// allows it, and halve it at any time.
struct BlockSteps : StepControl {};

using Steps = std::variant<Leapfrog, AdaptiveSteps, BlockSteps>;

/// dt or dt_max: the time of one call of Simulation::step().
double macro_step(const Steps& steps);
/// @throws InputError with the problem and a remedy
void validate(const Steps& steps);

}  // namespace kasane::gravity
