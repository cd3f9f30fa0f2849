// The model's times for gravity.direct.scaling: kernels are fitted to the times of one worker, messages are measured between the workers
// (gravity/performance/step_time.hpp, [MTM13] section 6).
#pragma once

#include <bench/gravity/scaling_measure.hpp>
#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/perf/benchmark.hpp>

#include <map>
#include <optional>
#include <vector>

namespace kasane::bench {

/// The time of one call on one worker.
struct AloneTime {
    index_t n = 0;
    double seconds = 0;
    bool both_sides = false;
};

class ScalingModel {
   public:
    /// Fits the model of a form to its times if there are six or more; otherwise takes the machine's calibration, if there is one.
    ScalingModel(const AnySpace& on, const std::vector<AloneTime>& alone);

    /// The model's time of a call; NaN if the form has no model. @param link  messages between several workers
    double seconds(gravity::PairForm form, int workers, index_t n, const gravity::LinkTime& link) const;
    /// A row for each form with its parameters and their origin.
    const std::vector<BenchmarkResult>& rows() const { return rows_; }

   private:
    gravity::ForceDevice device_;
    std::map<bool, gravity::ForceTime> times_;  ///< key: both_sides
    std::vector<BenchmarkResult> rows_;
};

}  // namespace kasane::bench
