// Measures the parameters of the model of a step (force_time.hpp) on the device itself: steps of small systems to large ones, fitted by
// least squares. What a step takes is what Simulation::step takes, so that a run is predicted and not a kernel.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/perf/calibration.hpp>

#include <vector>

namespace kasane::gravity {

/// What one set of parameters belongs to. How float pairs are summed up changes the time by less than the model is off.
struct ForceMethod {
    Precision precision = Precision::single_;
    bool both_sides = false;   ///< each pair once (CUDA)
    bool equal_masses = true;  ///< of a Plummer sphere; unequal masses take a longer loop (CUDA)

    /// "single, both sides, equal masses"
    std::string text() const;
};

struct ForceCalibration {
    ForceMethod method;
    ForceDevice device;
    ForceTime time;
    std::vector<index_t> sizes;
    std::vector<double> seconds;  ///< of a step; one per size

    CalibrationEntry entry(const std::string& device_name) const;
};

/// The counts of a device's work depend on these.
ForceDevice force_device(const AnySpace& on);

/// @param seconds  that it may take, about: the largest sizes are left out where they take too long
/// @param progress  may throw, which ends it
ForceCalibration calibrate_force(const AnySpace& on, const ForceMethod& method, double seconds, const ProgressFunction& progress = {});

/// Seconds of a step of a few hundred particles for each worker of a communicator: launches, messages, what the host has to say, and little
/// else, so that no step takes less. Collective over the ranks of the communicator; 0 on all but rank 0.
double least_step_seconds(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const ForceMethod& method);

/// What a file says of a device and a method.
struct KnownForce {
    ForceDevice device;
    ForceTime time;
};
/// @throws InputError: numbers are missing
KnownForce known_force(const CalibrationEntry& entry);
CalibrationKey force_key(const std::string& device_name, const ForceMethod& method);

}  // namespace kasane::gravity
