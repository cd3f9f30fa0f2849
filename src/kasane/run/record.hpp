// record.json: what ran, where, for how long, and how well; written at the start, with every checkpoint and at the end.
// The checkpoint carries the same record, so that a resumed run goes on counting.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/kept_keys.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kasane::run {

struct Record {
    /// One life of the process.
    struct Segment {
        std::string started;  ///< ISO 8601
        std::string device, commit;
        int threads = 0;
        int members = 1;  ///< of all ranks
        std::int64_t first_step = 0, last_step = 0;
        double seconds = 0;
    };
    /// What the particles were at the start: ids 1.. in this order.
    struct Object {
        std::string name;
        std::int64_t count = 0;
    };
    struct Bound {
        double rate = 0;  ///< what the hardware allows [interactions / s]; 0: not known
        std::string reason;
    };

    /// The members of the last life.
    struct Parallel {
        int ranks = 1, members = 1;          ///< members of each rank
        std::vector<std::string> placement;  ///< one line per rank
        std::string engine, form;            ///< how their messages go; empty for one member
    };

    std::string title, problem, status = "running";  ///< running | done | interrupted | failed
    std::string started, finished;
    DeviceInfo device;
    int threads = 0;
    std::string simd;
    Parallel parallel;
    std::int64_t particles = 0;
    std::array<std::int64_t, gravity::type_count> particles_by_type{};
    std::vector<Object> objects;
    std::vector<gravity::SnapshotComponent> components;  ///< what the particles were sampled as, where known
    gravity::Units units;
    double softening = 0, dt = 0;  ///< dt: the macro step
    double snapshot_every = 0;     ///< [time]
    gravity::Force force;
    std::string variant;  ///< kernel or walk that runs
    gravity::Steps step_method;
    gravity::StepCounts step_counts;  ///< of all segments
    gravity::TreeTuning tuning;
    gravity::ForceAudit force_error;  ///< the last one; count 0: none
    std::int64_t steps = 0;
    double time = 0;
    double seconds = 0;                 ///< wall, of all segments
    double step_seconds = 0;            ///< wall, of a macro step of the last segment; 0: none was taken
    double predicted_step_seconds = 0;  ///< by the model of perf/, where this machine is calibrated; 0: not known
    std::map<std::string, Timers::Part> timers;
    double interactions = 0;
    Bound bound;
    double initial_energy = 0;         ///< E0; the errors below are relative to |E0|
    double relative_energy_error = 0;  ///< largest so far
    double final_relative_energy_error = 0;
    std::vector<Segment> segments;
    std::vector<std::string> warnings;  ///< of the model: see Sampling::warnings()
    std::vector<std::string> unused_keys, papers;
    std::string problem_text;  ///< why it failed
};

/// With the version, commit and build of this program.
std::string to_json(const Record& record);
/// @throws InputError when the text is no record
Record record_from_json(const std::string& text, const std::filesystem::path& file);

/// What must not change on resume, from the record of a checkpoint or of a run that begins; records of earlier versions may lack keys.
/// @throws InputError when the text is no record
KeptKeys kept_keys(const std::string& record, const std::filesystem::path& file);

/// Mean share of the particles that a block step advances; NaN before the first.
double active_fraction(const gravity::StepCounts& counts, std::int64_t particles);

/// Now, UTC: "2026-11-21T12:34:56Z".
std::string iso_time_now();

/// The instruction set that the CPU kernels run with here.
std::string simd_name();

}  // namespace kasane::run
