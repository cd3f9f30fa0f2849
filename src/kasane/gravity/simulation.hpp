// A self-gravitating system and its clock: particles on a space, a force, a way to step. LocalForce (local_force.hpp) is the force alone,
// for other integrators; distributed/distributed_simulation.hpp makes a Simulation of many workers.
// Invariants: time() == start_time + steps() * macro step, computed so at every step; between calls all particles are at that time.
// With a tree the particles stand in curve order on the space; what comes to the host is in the order given.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/diagnose/force_audit.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/force.hpp>
#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/step/steps.hpp>
#include <kasane/gravity/tree/tuning.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

/// State of a run, beside its particles, that a bit by bit continuation needs.
struct SimulationState {
    std::vector<std::uint32_t> order{};       ///< curve order of the tree that made the accelerations; empty: none
    std::vector<Vec3<float>> acceleration{};  ///< of the last force of a tree, in the particles' given order; empty: none
    TreeTuning tuning{};
    double step_length = 0;  ///< replaces eps in the steps where eps is zero, if it was computed at the start [length]
    DirectFrame frame{};     ///< of direct summation, renewed at every 64th macro step; total 0: none
};

struct SimulationOptions {
    Force force;
    Steps step;
    double start_time = 0;    ///< time() at step 0
    std::int64_t steps = 0;   ///< macro steps before those of this simulation (a resumed run)
    SimulationState state{};  ///< of a resumed run
};

/// Counts of the steps so far.
struct StepCounts {
    std::int64_t block_steps = 0;      ///< forces evaluated, each on the particles that were active
    double updates = 0;                ///< particles advanced, summed over the block steps
    std::int64_t rebuilds = 0;         ///< trees built
    std::vector<std::int64_t> levels;  ///< particles with dt = dt_max / 2^k now
};

class Stepper;

class Simulation {
   public:
    /// @throws InputError: bad particles or options, or more memory needed than the space has (both numbers in the message)
    Simulation(AnySpace on, Particles particles, const SimulationOptions& options);
    /// For other modules that implement steps (distributed_simulation()).
    explicit Simulation(std::unique_ptr<Stepper> stepper);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    double time() const;
    /// Macro steps (dt, or dt_max of adaptive and block steps).
    std::int64_t steps() const;
    index_t size() const;
    const SimulationOptions& options() const;
    AnySpace space() const;

    /// Takes n macro steps; on a CUDA device returns when they are done.
    void step(std::int64_t n = 1);
    /// Macro steps while time() + half of one < until.
    void run_until(double until);

    /// The present state, copied to the host; order, ids and types as given.
    const Particles& particles() const;
    std::vector<Vec3<double>> acceleration() const;
    /// Computed now, in the force's precision.
    std::vector<double> potential() const;

    /// The present accelerations of a sample of particles against direct summation in double: evenly spread, the smaller of count and
    /// size(). The sample changes with steps().
    ForceAudit audit(index_t count = 256) const;
    SimulationState state() const;

    /// Seconds in "force" (a tree: "walk", "moments", "tree"), "step" (predict, correct, time steps), "copy".
    const Timers& timers() const;
    /// Pairs evaluated so far, cells counted as one.
    double interactions() const;
    StepCounts step_counts() const;
    /// The direct-summation variant or the walk that steps use: "pair", "lists", ...
    std::string variant() const;
    const Stepper& stepper() const { return *stepper_; }

   private:
    std::unique_ptr<Stepper> stepper_;
};

/// Host and device memory of a simulation of n particles at its peak.
struct SimulationMemory {
    std::uint64_t host_bytes = 0;
    std::uint64_t device_bytes = 0;
};
SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force);
/// @throws InputError with the memory needed and the memory free, when the latter is too little
void check_memory(const AnySpace& on, index_t n, const Force& force);

}  // namespace kasane::gravity
