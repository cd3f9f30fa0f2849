// Predicts the time and memory of a run from its run file, by the models of docs/performance-model.md: direct summation with constant steps
// from a calibration (`kasane calibrate`), trees from two small systems that are computed here (predict_tree.hpp).
#pragma once

#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/perf/calibration.hpp>
#include <kasane/run/gravity/gravity_file.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::run {

struct PredictionRequest {
    int ranks = 1, workers = 1;  ///< workers of each rank
    std::string device;          ///< its name in the calibration; empty: this machine's, or the only one of the calibration
    /// A record of `kasane bench gravity.tree.scaling`, from which a tree is predicted (predict_record.hpp); empty: none
    std::filesystem::path record = {};
    double latency = 5e-6, bandwidth = 25e9;  ///< between ranks, with a record [s], [byte/s]
};

/// An expected number, and the range that it lies in if the model holds.
struct Range {
    double expected = 0, low = 0, high = 0;
};

struct Prediction {
    std::string method;  ///< "both sides", "one-sided" or "tree"
    std::string device;
    index_t particles = 0;
    std::int64_t steps = 0;
    int ranks = 1, workers = 1;           ///< workers of each rank
    Range seconds_per_step, run_seconds;  ///< run_seconds: all steps, without diagnostics, snapshots and checkpoints
    double interactions_per_second = 0;
    double strong_efficiency = 1;  ///< compared with one device that has all particles
    double weak_efficiency = 1;    ///< interactions per second of a device, compared with one device that has as many particles as each has
    gravity::StepTime step;
    std::vector<std::pair<std::string, double>> parts;  ///< of a tree: block steps in a step, and the seconds of its parts
    std::uint64_t host_bytes = 0, device_bytes = 0;     ///< of the rank that takes most
    std::string bound;                                  ///< the largest part of a step, one sentence
    std::vector<std::string> doubts;                    ///< reasons for the width of the range, one sentence each
};

/// @throws InputError: direct summation with steps that are not constant, or no calibration (with the command to run)
Prediction predict(const GravityFile& file, const Calibration& calibration, const PredictionRequest& request);

/// The seconds of a step, where this machine has a calibration for it. Never throws.
std::optional<double> predicted_step(const GravityFile& file, int ranks, int workers);

/// The keys of a calibration's entries of channels and of barriers. @param workers  of each rank
CalibrationKey channel_key(const std::string& device, int ranks, int workers);
CalibrationKey synchronisation_key(const std::string& device, int ranks, int workers);

}  // namespace kasane::run
