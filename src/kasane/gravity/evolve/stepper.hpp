// The implementation of Simulation: particles, a force and a way to step. DirectStepper and TreeStepper work on one device;
// distributed/distributed_simulation.hpp has the one of many workers.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/evolve/options.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/diagnose/force_audit.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::gravity {

/// A particle became infinite or NaN.
struct BlowUp final : ComputationError {
    BlowUp(index_t which, std::int64_t in_step) : ComputationError("a particle is not finite any more"), particle(which), step(in_step) {}
    index_t particle;   ///< number in the given order
    std::int64_t step;  ///< macro step in which it happened
};

/// The functions are those of Simulation with the same names.
class Stepper {
   public:
    virtual ~Stepper() = default;
    virtual AnySpace space() const = 0;
    virtual void step(std::int64_t n) = 0;
    /// Copies positions and velocities to the host, in the given order. @param to  must have the right sizes
    virtual void fetch(Particles& to) = 0;
    /// Copies positions and velocities, in the given order, to arrays in memory of space(); an empty view is not filled.
    virtual void copy_state(View<Vec3<double>> position, View<Vec3<double>> velocity) = 0;
    virtual std::vector<Vec3<double>> acceleration() = 0;
    virtual std::vector<double> potential() = 0;
    /// Computes the diagnostics without the time. Adds to `timers`.
    virtual Diagnostics diagnostics() = 0;
    virtual ForceAudit audit(index_t count) = 0;
    virtual SimulationState state() = 0;
    virtual StepCounts step_counts() = 0;
    virtual double interactions() = 0;
    virtual void read_timers(Timers& to) = 0;
    virtual std::string variant() = 0;
    virtual index_t size() const { return host.size(); }
    virtual std::uint64_t id_of(index_t particle) { return host.id[static_cast<std::size_t>(particle)]; }

    SimulationOptions options;  ///< without `state`
    Particles host;             ///< particles at the step `host_step`; Simulation updates them on demand
    std::int64_t host_step = 0;
    std::int64_t steps = 0;
    bool potential_follows = false;  ///< diagnostics() or potential() follows step(), whose last force may include the potentials
    Timers timers;

   protected:
    /// @throws ComputationError with the particle's id, the time and remedies
    [[noreturn]] void report_blow_up(const BlowUp& what);
};

}  // namespace kasane::gravity
