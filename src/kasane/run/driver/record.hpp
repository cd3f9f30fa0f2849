// The run record, record.json: the part that every kind of run has. A kind derives its own record from this one and writes its part after
// it. Checkpoints contain the record, so that a resumed run continues its counts.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/run/driver/fields.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

/// The part of a run between a start or resume and the next stop.
struct Segment {
    std::string started;  ///< ISO 8601
    std::string device, commit;
    int threads = 0;
    int workers = 1;                   ///< on all ranks
    std::int64_t first = 0, last = 0;  ///< steps, sweeps or iterations done before it, and at its end
    double seconds = 0;                ///< wall
};

/// Ranks and workers of the last segment, for kinds of run that use several workers.
struct Parallel {
    int ranks = 1, workers = 1;               ///< workers of each rank
    std::vector<std::string> placement = {};  ///< one line per rank
    std::string engine = {}, form = {};       ///< of the messages between workers; empty for one worker
};

struct Record {
    std::string title, status = "running";  ///< running | done | interrupted | failed | a word of the kind
    std::string message;                    ///< the reason where it failed or ended without a result
    std::string started, finished;          ///< ISO 8601
    DeviceInfo device;
    int threads = 0;
    std::string simd;
    std::string version, commit, compiler, cuda, mpi;  ///< of the program that wrote the record; set where it is read
    std::optional<Parallel> parallel;                  ///< only of kinds that run on several workers
    double seconds = 0;                                ///< wall, of all segments
    std::map<std::string, Timers::Part> timers;        ///< of all segments
    std::vector<Segment> segments;
    std::vector<std::string> unused_keys, papers;
};

/// The common part, with version, commit and build of this program.
/// @param problem  name of the kind   @param step  what it counts: "step", "sweep", "iteration"
io::Json common_json(Record record, const std::string& problem, const std::string& step);

/// Reads the common part of a record that any version of kasane wrote.
/// @throws io::Json::exception  with Gaps::refuse, where a field that all versions write is missing or has another type
void read_common(const io::Json& object, const std::string& step, Record& record, Gaps gaps = Gaps::refuse);

/// Calls `read` with the parsed record. @throws InputError: not JSON, the record of another problem, or `read` threw a JSON exception
void read_record(const std::string& text, const std::filesystem::path& file, const std::string& problem,
                 const std::function<void(const io::Json&)>& read);

/// Adds the seconds and calls of each part.
void add(std::map<std::string, Timers::Part>& to, const std::map<std::string, Timers::Part>& parts);

/// Null for an empty text.
io::Json text_or_null(const std::string& text);
/// Empty for a value that is not a text.
std::string text_or_empty(const io::Json& value);
/// JSON has no infinity and NaN: nlohmann writes them as null, and null is read back as NaN.
double number_or_nan(const io::Json& value);
/// Null for a number that is not positive, which means that it is not known.
io::Json positive_or_null(double value);

/// Now, UTC: "2026-11-21T12:34:56Z".
std::string iso_time_now();
/// The instruction set of the CPU kernels on this machine.
std::string simd_name();
/// Threads of the CPU that a run on this space uses.
int threads_of(const AnySpace& space);

}  // namespace kasane::run
