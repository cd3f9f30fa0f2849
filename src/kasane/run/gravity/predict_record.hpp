// Prediction of a tree run with constant steps on many devices from a record of `kasane bench gravity.tree.scaling` on few;
// docs/performance-model.md.
#pragma once

#include <kasane/run/gravity/predict.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// Means of the steps of one row of a record, of the first worker: seconds of its parts.
struct ScalingRow {
    double particles = 0;
    int workers = 1;
    double walk = 0, moments = 0, tree = 0, step = 0, domains = 0, lets = 0, messages = 0;
    double received = 0;  ///< bytes that a worker receives in a step
};

/// LETs of one worker for all others (`gravity.tree.lets`): seconds of selection, packing and merging.
struct LetsRow {
    double seconds = 0, bytes = 0;
};

struct ScalingRecord {
    std::vector<ScalingRow> steps;  ///< of all particles
    std::vector<LetsRow> lets;      ///< may be empty
};

/// @throws InputError: not a record, or without rows of one and of several workers
ScalingRecord read_scaling_record(const std::filesystem::path& record);

/// Parts of a step, in seconds.
struct ScaledStep {
    double walk = 0, moments = 0, tree = 0, step = 0, domains = 0, lets = 0;
    double messages = 0;  ///< that the walk of the own tree does not hide
    double received = 0;  ///< [byte]
    double total() const { return walk + moments + tree + step + domains + lets + messages; }
};

class ScalingModel {
   public:
    explicit ScalingModel(const ScalingRecord& record);

    /// @param growth  0: LETs of more workers are as large as those of the most that were measured; 1: they grow with log2 of the workers
    /// @param link  between ranks; with bandwidth 0 all workers are devices of one host, as those of the record
    ScaledStep step(double particles, int workers, double growth, const gravity::LinkTime& link) const;
    int most_workers() const { return most_workers_; }
    double fewest_own() const { return fewest_own_; }
    double most_own() const { return most_own_; }

   private:
    double on_one(double ScalingRow::* part, double own) const;

    std::vector<ScalingRow> one_;  ///< of one worker, by particles
    int most_workers_ = 1;
    double fewest_own_ = 0, most_own_ = 0;
    /// Seconds of LETs: for an own particle; for another worker or, where the record has LETs for many workers, for all of them and for a
    /// byte.
    double lets_own_ = 0, lets_other_ = 0, lets_all_ = 0, lets_byte_ = 0;
    double domains_ = 0;                               ///< seconds for a doubling of the workers
    double messages_byte_ = 0, messages_other_ = 0;    ///< seconds of messages on one host
    double received_two_ = 0, received_doubling_ = 0;  ///< bytes for an own particle
};

/// @throws InputError: not a tree, steps that are not constant, or an unusable record
Prediction predict_from_record(const GravityFile& file, const PredictionRequest& request);

}  // namespace kasane::run
