// Time steps: one constant step, one adaptive step for all particles, or power-of-two block steps. Plain values.
// Every scheme is a kick-drift-kick in predict-evaluate-correct form: v' = v + a dt/2, x' = x + v' dt, (new a), v = v' + a_new dt/2.
// Invariant: at every multiple of dt (of dt_max with adaptive and block steps) since the start all particles are at the same time.
#pragma once

#include <cstdint>
#include <variant>

namespace kasane::gravity {

/// Kick-drift-kick with one constant step for all: second order, symplectic, time-reversible.
struct Leapfrog {
    double dt = 0;  ///< [time], not 0; negative runs backwards
};

/// Criterion that limits the step of a particle, with velocity v, acceleration a and softening eps.
enum class StepCriterion {
    velocity_and_acceleration,  ///< eta min(eps / |v|, sqrt(eps / |a|))  [Miki & Umemura 2017]
    acceleration,               ///< eta sqrt(eps / |a|)
};

/// Steps dt_max / 2^k: the longest that the criterion allows. Without softening, `length` replaces eps, and the criterion does not use
/// velocities.
struct StepControl {
    double dt_max = 0;  ///< longest step [time], above 0; all particles are at one time at its multiples
    double eta = 0.5;   ///< accuracy parameter, above 0
    StepCriterion criterion = StepCriterion::velocity_and_acceleration;  ///< limit of the step
    int deepest = 24;                                                    ///< the shortest step is dt_max / 2^deepest; 0 ... 30
    double length = 0;  ///< replaces eps if eps is 0 [length]; 0: the mean distance of particles inside the half-mass radius
};

/// One step for all particles: the shortest that the criterion gives.
struct AdaptiveSteps : StepControl {};

/// Individual steps of the particles (block steps on the grid of dt_max / 2^k): at its end a step may double where
/// the grid allows it, or become shorter by any number of halvings. All steps are chosen anew at multiples of dt_max.
struct BlockSteps : StepControl {};

/// Time step of a simulation.
using Steps = std::variant<Leapfrog, AdaptiveSteps, BlockSteps>;

/// dt or dt_max: the time of one macro step, which Simulation::step() takes [time].
double macro_step(const Steps& steps);
/// Checks the ranges of all values. @throws InputError with the problem, and a remedy where there is one
void validate(const Steps& steps);

}  // namespace kasane::gravity
