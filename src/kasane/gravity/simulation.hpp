// A self-gravitating system and its clock: particles on a space, a force, a step.
// Invariants: time() == start_time + steps() * dt, computed so at every step; positions and velocities are at the same time between calls.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/particles.hpp>

#include <memory>

namespace kasane::gravity {

/// Kick-drift-kick with one constant step for all: second order, symplectic, time-reversible.
struct Leapfrog {
    double dt = 0;  ///< [time], not 0; negative runs backwards
};

struct SimulationOptions {
    Direct force;
    Leapfrog step;
    double start_time = 0;   ///< time() at step 0
    std::int64_t steps = 0;  ///< steps that the given particles have behind them (a resumed run)
};

class Simulation {
   public:
    /// @throws InputError: bad particles or options, or more memory needed than the space has (both numbers in the message)
    Simulation(AnySpace on, Particles particles, const SimulationOptions& options);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    double time() const;
    std::int64_t steps() const;
    index_t size() const;
    const SimulationOptions& options() const;
    AnySpace space() const;

    /// Takes n steps; on a CUDA device returns when they are done.
    void step(std::int64_t n = 1);
    /// Steps while time() + dt/2 < until.
    void run_until(double until);

    /// The present state, copied to the host; order, ids and types as given.
    const Particles& particles() const;
    std::vector<Vec3<double>> acceleration() const;
    /// Computed now, in the force's precision.
    std::vector<double> potential() const;

    /// Seconds in "force", "step" (kick and drift), "copy".
    const Timers& timers() const;
    /// Pairs evaluated so far.
    double interactions() const;
    /// The direct-summation variant that steps use.
    DirectVariant variant() const;

   private:
    struct Engine;
    template <Space S>
    struct EngineOn;
    std::unique_ptr<Engine> engine_;
};

/// Host and device memory that a simulation of n particles takes at its peak.
struct SimulationMemory {
    std::uint64_t host_bytes = 0;
    std::uint64_t device_bytes = 0;
};
SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Direct& force);
/// @throws InputError with what is needed and what is free, when that is too little
void check_memory(const AnySpace& on, index_t n, const Direct& force);

}  // namespace kasane::gravity
