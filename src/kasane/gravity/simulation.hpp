// A self-gravitating system and its clock: particles on a space, a force, a way to step.
// Invariants: time() == start_time + steps() * macro step, computed so at every step; between calls all particles are at that time.
// With a tree the particles stand in curve order on the space; what comes to the host is in the order given.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/diagnose/force_audit.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/step/steps.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace kasane::gravity {

using Force = std::variant<Direct, Tree>;
double softening(const Force& force);
double gravitational_constant(const Force& force);

/// What a run needs beside its particles to go on bit by bit.
struct SimulationState {
    std::vector<std::uint32_t> order{};       ///< curve order of the tree that made the accelerations; empty: none
    std::vector<Vec3<float>> acceleration{};  ///< of the last force of a tree, in the particles' given order; empty: none
    TreeTuning tuning{};
    double step_length = 0;  ///< that stands for eps in the steps where eps is zero, if it was computed at the start [length]
    DirectFrame frame{};     ///< of direct summation: it is renewed at every 64th macro step; total 0: none
};

struct SimulationOptions {
    Force force;
    Steps step;
    double start_time = 0;    ///< time() at step 0
    std::int64_t steps = 0;   ///< macro steps that the given particles have behind them (a resumed run)
    SimulationState state{};  ///< of a resumed run
    Exchange exchange{};      ///< between the workers of a communicator
};

/// What adaptive steps did so far.
struct StepCounts {
    std::int64_t block_steps = 0;      ///< forces evaluated, each on the particles that were active
    double updates = 0;                ///< particles advanced, summed over the block steps
    std::int64_t rebuilds = 0;         ///< trees built
    std::vector<std::int64_t> levels;  ///< particles with dt = dt_max / 2^k now
};

class Simulation {
   public:
    /// @throws InputError: bad particles or options, or more memory needed than the space has (both numbers in the message)
    Simulation(AnySpace on, Particles particles, const SimulationOptions& options);
    /// Direct summation on all workers of a communicator, each with its slab of the particles; on rank 0, while the other ranks are in
    /// worker_loop().
    /// @param here  the spaces of this rank's workers   @param particles  all of them
    /// @throws InputError as above, a tree among them; with the number of the rank that it is from
    Simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
               const SimulationOptions& options);
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
    /// How the workers of a communicator exchange their particles.
    ExchangeUsed exchange_used() const;

   private:
    friend void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);
    struct Engine;
    template <class Gravity>
    struct EngineOn;
    struct Workers;
    struct TeamEngine;
    std::unique_ptr<Engine> engine_;
};

/// What the ranks other than 0 do while rank 0 has a Simulation on the communicator; returns when that is gone, or when it could not be
/// made. A command that every worker fails at (a run that blew up) is rank 0's to tell: here the next one is awaited.
void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// Host and device memory that a simulation of n particles takes at its peak.
struct SimulationMemory {
    std::uint64_t host_bytes = 0;
    std::uint64_t device_bytes = 0;
};
SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force);
/// What one worker of a communicator takes; the host of worker 0 holds all particles besides.
SimulationMemory worker_memory(const AnySpace& kind, index_t n, const Direct& force, const Exchange& exchange, int workers, int worker);
/// @throws InputError with what is needed and what is free, when that is too little
void check_memory(const AnySpace& on, index_t n, const Force& force);
/// Likewise of the workers of one rank, who are number `first` and the next of a communicator. @param sharing  ranks that share this host's
/// memory
void check_worker_memory(const std::vector<AnySpace>& here, index_t n, const Direct& force, const Exchange& exchange, int workers,
                         int first, int sharing);

}  // namespace kasane::gravity
