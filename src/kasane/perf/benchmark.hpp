// Benchmarks: a name, a description, and rows of results with their bound and error. Speed is never given without both.
// The programs in bench/ define them, `kasane bench` runs them.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/timeline.hpp>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kasane {

struct BenchmarkResult {
    std::string name;  ///< "gravity.direct.pair, single, equal masses"
    index_t n = 0;
    double seconds = 0;        ///< median of one call
    double spread = 0;         ///< (slowest - fastest) / median of the repetitions
    double rate = 0;           ///< units of work per second
    std::string unit;          ///< "interactions/s"
    double tflops = 0;         ///< in the convention that the description states; 0: none
    double bound = 0;          ///< the rate that the hardware allows; 0: unknown
    std::string bound_reason;  ///< the work that the bound counts
    /// Largest relative error against the reference; a tree's: the 99th percentile. NaN: not measured.
    double error = std::numeric_limits<double>::quiet_NaN();
    /// More numbers of this row by name ("median_error", "theta", …): printed after it and written into the record.
    std::vector<std::pair<std::string, double>> more;
    /// Lists of numbers by name ("launches"): only in the record.
    std::vector<std::pair<std::string, std::vector<double>>> lists{};
    /// Timelines of the workers in one call: only in the record, a span as [name, begin, end].
    std::vector<std::vector<Span>> timeline{};
    std::string note;  ///< text that numbers cannot express: which options were chosen, or why there is no result; may be empty
    double bound_fraction() const { return bound > 0 ? rate / bound : 0; }
};

struct BenchmarkContext {
    AnySpace space;
    std::vector<index_t> sizes;                          ///< empty: the benchmark's own sizes
    std::string device = "auto";                         ///< as the user gave it, for benchmarks that place workers themselves
    int threads = 0;                                     ///< threads of the CPU; 0: all
    int workers = 0;                                     ///< workers of each rank; 0: as many as this machine has devices
    bool quick = false;                                  ///< a look at the study: smaller default sizes, fewer values, shorter runs
    std::function<void(const BenchmarkResult&)> report;  ///< called for each row as soon as it is measured
};

struct Benchmark {
    std::string name;
    std::string head;  ///< the measured quantity, the work that the bound counts, the reference of the error
    std::function<void(const BenchmarkContext&)> run;
    bool on_ranks = false;  ///< several ranks may run it; the root rank reports
};

struct Timing {
    double seconds = 0;  ///< median per call
    double spread = 0;
};

/// Times `call`, which may be asynchronous on `space`: after a warm-up, at least `repetitions` batches, each of as many calls as
/// fill 20 ms, and waits once per batch.
Timing time_calls(const AnySpace& space, const std::function<void()>& call, int repetitions = 5);

/// Benchmarks whose name is one of `wanted` or begins with it and a dot ("gravity" selects "gravity.direct"); all when `wanted` is empty.
/// @throws InputError for a name that matches none
std::vector<Benchmark> selected(const std::vector<Benchmark>& all, const std::vector<std::string>& wanted);

/// The record as JSON text: machine, commit, build, results.
std::string benchmark_record(const AnySpace& space, const std::vector<BenchmarkResult>& results);

}  // namespace kasane
