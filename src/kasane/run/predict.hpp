// What a run will take, from its run file and what machines measured about themselves (`kasane calibrate`): the models of
// docs/performance-model.md. Direct summation with constant steps alone: what a tree or a particle's own step costs depends on where the
// particles go.
#pragma once

#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/perf/calibration.hpp>
#include <kasane/run/gravity/gravity_file.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct PredictionWish {
    int ranks = 1, members = 1;  ///< members (GPUs) of each rank
    std::string device;          ///< as the calibration calls it; empty: this machine's, or the only one that the calibration knows
};

/// A number, and between which it lies if the model holds.
struct Range {
    double expected = 0, low = 0, high = 0;
};

struct Prediction {
    std::string device;
    index_t particles = 0;
    std::int64_t steps = 0;
    int ranks = 1, members = 1;           ///< members of each rank
    Range seconds_per_step, run_seconds;  ///< of the run: the steps alone, without diagnostics, snapshots and checkpoints
    double interactions_per_second = 0;
    double strong_efficiency = 1;  ///< against one device with all particles
    double weak_efficiency = 1;    ///< in interactions per second of a device, against one device with as many particles as each has
    gravity::StepTime step;
    std::uint64_t host_bytes = 0, device_bytes = 0;  ///< of the rank that takes most
    std::string bound;                               ///< what bounds it, one sentence
    std::vector<std::string> doubts;                 ///< why the range is as wide as it is, one sentence each
};

/// @throws InputError: a tree, steps that are not constant, or nothing measured (with what to run)
Prediction predict(const GravityFile& file, const Calibration& calibration, const PredictionWish& wish);

/// For a run that is about to start: seconds of a step, where this machine has a calibration for it. Never throws.
std::optional<double> predicted_step(const GravityFile& file, int ranks, int members);

/// What a channel's and a barrier's entry are called for so many members on so many ranks.
CalibrationKey channel_key(const std::string& device, int ranks, int members);
CalibrationKey synchronisation_key(const std::string& device, int ranks, int members);

}  // namespace kasane::run
