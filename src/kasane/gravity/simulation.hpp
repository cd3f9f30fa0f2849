// A self-gravitating system: particles on a space, a force and a time integrator. LocalForce (local_force.hpp) is the force alone, for
// other integrators; distributed/distributed_simulation.hpp makes a Simulation on many workers.
// Invariants: time() == start_time + steps() * macro step, computed so at every step; between calls all particles are at that time.
// With a tree, the particles are stored in curve order on the space; results on the host are in the order of the particles given.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/diagnose/force_audit.hpp>
#include <kasane/gravity/evolve/options.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

class Stepper;

/// Particles, a force and a time integrator on one device, or on many workers (distributed_simulation()).
class Simulation {
   public:
    /// @param on  where the simulation runs
    /// @param particles  state at the start, 1 particle or more; their softenings, if they have any, replace that of the force
    /// @param options  force, steps, and the state of a resumed run
    /// @throws InputError: bad particles, options or threads, or more memory needed than the space has (both numbers in the message)
    Simulation(AnySpace on, Particles particles, const SimulationOptions& options);
    /// For modules with their own stepper (distributed_simulation()).
    explicit Simulation(std::unique_ptr<Stepper> stepper);
    ~Simulation();
    /// The source of the move may only be destroyed or assigned to.
    Simulation(Simulation&&) noexcept;
    /// The source of the move may only be destroyed or assigned to.
    Simulation& operator=(Simulation&&) noexcept;

    /// options().start_time + steps() times the macro step [time].
    double time() const;
    /// Macro steps (dt, or dt_max of adaptive and block steps) since start_time, with those before a resume.
    std::int64_t steps() const;
    /// Number of particles.
    index_t size() const;
    /// As given to the constructor, without `state`. Where the particles have softenings, that of the force is the smallest one.
    const SimulationOptions& options() const;
    /// Where the simulation runs; on many workers, the space of the first worker of this rank.
    AnySpace space() const;

    /// Takes n macro steps; returns when they are done, on a CUDA device too.
    /// @param diagnostics_follow  diagnostics() or potential() is called next: the last force of a tree on one device, with
    /// `deterministic`, then includes the potentials, so that these need no walk of their own. Positions do not depend on it beyond
    /// rounding
    /// @throws InputError: n < 0; ComputationError: a position or velocity is not finite any more (with the particle's id, the time and
    ///   remedies)
    void step(std::int64_t n = 1, bool diagnostics_follow = false);
    /// Takes macro steps until time() is within half a macro step of `until` [time], or beyond it. With a negative dt the simulation runs
    /// backwards to `until`. @throws InputError: `until` is not finite; ComputationError as step() does
    void run_until(double until);

    /// The present state, copied to the host; order, ids and types as given. The reference stays valid; the next call after a step
    /// overwrites the particles.
    const Particles& particles() const;
    /// Copies the present state, in the order given, to arrays of the caller; on a CUDA device nothing passes through the host.
    /// @param position, velocity  [size()] in memory of space(), or empty: not copied   @throws LogicError: a view of another size
    void copy_state(View<Vec3<double>> position, View<Vec3<double>> velocity) const;
    /// [size()] present accelerations with the factor G, in the order given [length / time^2]; the first call computes them if
    /// no step was taken.
    std::vector<Vec3<double>> acceleration() const;
    /// [size()] potentials with the factor G, in the order given [length^2 / time^2]; every call computes them in the force's precision.
    std::vector<double> potential() const;

    /// Energies, momenta, virial ratio, centre of mass and Lagrangian radii at time(). Sums and a selection on the space of the
    /// particles, which are not copied to the host. The result does not depend on the number of threads or workers. A particle that is not
    /// finite makes the energy, the momentum or the centre of mass non-finite. @throws InputError: the total mass is 0
    Diagnostics diagnostics() const;
    /// Compares the present accelerations of a sample of particles with direct summation in double. The sample is spread evenly over the
    /// particles and changes with steps().
    /// @param count  particles of the sample, 1 or more; at most size() are taken   @throws InputError: count < 1
    ForceAudit audit(index_t count = 256) const;
    /// State for a bitwise identical continuation, beside particles(), time() and steps().
    SimulationState state() const;

    /// Seconds in "force" (a tree: "walk", "moments", "tree"), "step" (predict, correct, time steps), "copy", "potential",
    /// "diagnostics", "audit".
    const Timers& timers() const;
    /// Pairs that the steps evaluated so far; an accepted cell counts as one source.
    double interactions() const;
    /// Counts of the steps of this simulation so far.
    StepCounts step_counts() const;
    /// The direct-summation variant or the walk that steps use: "pair", "lists", ...
    std::string variant() const;
    /// The implementation, for other modules; the type is internal.
    const Stepper& stepper() const { return *stepper_; }

   private:
    std::unique_ptr<Stepper> stepper_;
};

/// Memory of a simulation at its peak.
struct SimulationMemory {
    std::uint64_t host_bytes = 0;    ///< host memory, with snapshots and checkpoints [byte]
    std::uint64_t device_bytes = 0;  ///< memory of the CUDA device [byte]; 0 on Cpu
};
/// Estimates the memory of a run with n particles on one device: the simulation, its diagnostics, snapshots and checkpoints.
SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force);
/// Compares simulation_memory() with the free memory of the host and of the device.
/// @throws InputError with the memory needed and the memory free, if too little is free
void check_memory(const AnySpace& on, index_t n, const Force& force);

}  // namespace kasane::gravity
