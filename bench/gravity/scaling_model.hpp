// What the model says of the times of gravity.direct.scaling: kernels from the times of one worker, messages as they were measured between
// workers (gravity/performance/step_time.hpp, [MTM13] section 6).
#pragma once

#include <bench/gravity/scaling_measure.hpp>
#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/perf/benchmark.hpp>

#include <map>
#include <optional>
#include <vector>

namespace kasane::bench {

/// One call by one worker.
struct AloneTime {
    index_t n = 0;
    double seconds = 0;
    bool both_sides = false;
};

class ScalingModel {
   public:
    /// Fitted to these times where they are six or more of a form; else from the machine's calibration, else there is none of that form.
    ScalingModel(const AnySpace& on, const std::vector<AloneTime>& alone);

    /// NaN where nothing is known. @param link  of several workers
    double seconds(gravity::PairForm form, int workers, index_t n, const gravity::LinkTime& link) const;
    /// A row for each form: its parameters, and where they are from.
    const std::vector<BenchmarkResult>& rows() const { return rows_; }

   private:
    gravity::ForceDevice device_;
    std::map<bool, gravity::ForceTime> times_;  ///< by both_sides
    std::vector<BenchmarkResult> rows_;
};

}  // namespace kasane::bench
