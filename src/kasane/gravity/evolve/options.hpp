// Options of a simulation, its state for a continuation, and counts of its steps. Plain values.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/evolve/force.hpp>
#include <kasane/gravity/step/steps.hpp>
#include <kasane/gravity/tree/tuning.hpp>

#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// State of a run, in addition to its particles, that a bitwise identical continuation needs. Simulation::state() returns it; a checkpoint
/// stores it.
struct SimulationState {
    std::vector<std::uint32_t> order{};       ///< curve order of the tree that made the accelerations; empty: none
    std::vector<Vec3<float>> acceleration{};  ///< of the last force of a tree, in the particles' given order; empty: none [length / time^2]
    TreeTuning tuning{};                      ///< of a tree walk, as far as it was chosen
    double step_length = 0;  ///< replaces a softening of 0 in the step criterion, if it was computed at the start [length]; 0: not computed
    DirectFrame frame{};     ///< of direct summation, renewed at every 64th macro step; total 0: none
};

/// Options of a simulation.
struct SimulationOptions {
    Force force;              ///< default: Direct{}
    Steps step;               ///< must be set: the default is a Leapfrog with dt = 0, which is rejected
    double start_time = 0;    ///< time() at step 0 [time]
    std::int64_t steps = 0;   ///< macro steps before those of this simulation (a resumed run)
    SimulationState state{};  ///< of a resumed run; default: a new run
};

/// Counts of the steps of this simulation so far; steps before a resume are not counted.
struct StepCounts {
    std::int64_t block_steps = 0;      ///< force evaluations, each on the particles that were active
    double updates = 0;                ///< particles advanced, summed over the block steps
    std::int64_t rebuilds = 0;         ///< trees built; 0 with direct summation
    std::vector<std::int64_t> levels;  ///< element k: particles with the time step dt_max / 2^k now
};

}  // namespace kasane::gravity
