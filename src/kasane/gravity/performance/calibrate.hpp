// Measures the parameters of the model of a step (force_time.hpp) on a device: steps of small to large systems, fitted by least squares.
// The measured time is that of Simulation::step, so that the model predicts runs and not kernels.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/perf/calibration.hpp>

#include <vector>

namespace kasane::gravity {

/// The method that one set of parameters belongs to. `deterministic` is not part of it, because it changes the time by less than the error
/// of the model.
struct ForceMethod {
    Precision precision = Precision::single_;
    bool both_sides = false;   ///< each pair once (CUDA)
    bool equal_masses = true;  ///< all particles have one mass; unequal masses need a longer loop (CUDA)

    /// "single, both sides, equal masses"
    std::string text() const;
};

struct ForceCalibration {
    ForceMethod method;
    ForceDevice device;
    ForceTime time;
    std::vector<index_t> sizes;
    std::vector<double> seconds;  ///< time of a step, one per size

    CalibrationEntry entry(const std::string& device_name) const;
};

/// The properties of a device that the counts of work depend on.
ForceDevice force_device(const AnySpace& on);

/// Calibrates one method on a device.
/// @param seconds  approximate time of the calibration; the largest sizes are left out if they take too long
/// @param progress  called before each size; it may throw to stop the calibration
ForceCalibration calibrate_force(const AnySpace& on, const ForceMethod& method, double seconds, const ProgressFunction& progress = {});

/// Measures a step with a few hundred particles per worker, which consists of launches, messages and work of the host: the lower bound of
/// the time per step [s]. Collective over the ranks of the communicator; returns 0 on all ranks but the root rank.
double least_step_seconds(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const ForceMethod& method);

/// Device and parameters of an entry of a calibration file.
struct KnownForce {
    ForceDevice device;
    ForceTime time;
};
/// @throws InputError: numbers are missing
KnownForce known_force(const CalibrationEntry& entry);
CalibrationKey force_key(const std::string& device_name, const ForceMethod& method);

}  // namespace kasane::gravity
