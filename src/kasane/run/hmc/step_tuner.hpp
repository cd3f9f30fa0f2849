// Tunes the number of steps of a trajectory to a requested acceptance, from trajectories that have Metropolis's test.
// With a step h = length / steps and an integrator of order p, sqrt(<dH>) is proportional to h^p and the acceptance is erfc(sqrt(<dH>) / 2)
// where dH is Gaussian, so that acceptance(steps) = erfc(c / steps^p) has one unknown, c.   [Gupta, Irback, Karsch & Petersson 1990]
#pragma once

#include <cstdint>
#include <vector>

namespace kasane::run {

/// Trajectories between two changes of the number of steps.
constexpr std::int64_t tuning_block = 10;

/// One trajectory with Metropolis's test.
struct TunedTrajectory {
    int steps = 0;
    double dH = 0;  ///< not finite: the trajectory counts as rejected
};

/// Returns the number of steps for the requested acceptance: at least half and at most twice those of the last trajectory, and at least 1.
/// c is the value for which the mean of min(1, exp(-dH)) is the expected acceptance, over all trajectories, each with its own number of
/// steps.
/// @param trajectories  at least one   @param order  2 or 4: the integrator's error of H is of the order h^order
int tuned_steps(const std::vector<TunedTrajectory>& trajectories, double acceptance, int order);

}  // namespace kasane::run
