// The interface between a kind of run and the driver. A new kind needs one table, a Kind, and one class, a Run. The driver has the rest:
// directory, lock, log, record, segments, timers, checkpoints, interrupts, failures, resume, page and result.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/driver/kept_keys.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/run/driver/run_controls.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/driver/run_page.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasane::run {

/// The parameters that every run file has. A kind derives its own from it.
struct RunFile {
    std::filesystem::path path;
    std::string title;
    AnySpace space;                   ///< of this rank's first worker
    std::vector<AnySpace> here;       ///< of all workers of this rank; empty: `space` alone
    std::filesystem::path directory;  ///< output; relative to the working directory
    double checkpoint_every = 60;     ///< [s] of wall time; infinite: only when the run is interrupted
    bool report = true;               ///< whether report.html is written at the end
    std::string resolved;             ///< the run file with every key spelled out
    std::vector<std::string> unused_keys, papers;
    std::vector<std::string> notes;  ///< consequences of the parameters that the user should know, one sentence each

    int workers() const { return here.empty() ? 1 : static_cast<int>(here.size()); }
};

/// The source that a run is read from.
struct RunSource {
    const std::filesystem::path& path;  ///< of the run file
    const std::vector<io::Setting>& settings;
    const std::vector<std::string>& problems;  ///< names of all kinds of run
    RankCoordinator& ranks;
    const Checkpoint* from = nullptr;  ///< the run continues from it, and files with the initial state are not needed; null: the run begins
};

/// Peak memory of one rank of a run, and free memory. [bytes]
struct RunMemory {
    std::uint64_t host_bytes = 0, host_available = 0;
    std::uint64_t device_bytes = 0, device_available = 0;  ///< 0 on the CPU
};

/// "1.0 MiB of 7680 MiB free", and the same of the device.
std::string memory_text(const RunMemory& memory);

/// The size of a run, for messages: "1024", "particles", and the key that sets it.
struct RunSize {
    std::string count, noun;
    Where where;
};

/// Fields for programs and lines for people, of `kasane check` and of the result of a run. No line break at the end of the text.
struct Summary {
    io::Json object = io::Json::object();
    std::string text;
};

class Loop;

/// One run: its file, its record and its state. The driver compares memory() with the free memory, and calls create() or restore(); then,
/// in each segment, begin(), advance() until done() or an interrupt, with save() in between, and complete() when the run is done.
class Run {
   public:
    virtual ~Run() = default;

    virtual const RunFile& file() const = 0;
    virtual Record& record() = 0;
    /// This kind's part of record.json, after the common part.
    virtual io::Json part() const = 0;

    /// One entry per rank.
    virtual std::vector<RunMemory> memory() const = 0;
    virtual RunSize size() const = 0;
    /// The line of `kasane check` on memory that one rank takes.
    virtual std::string memory_line(const RunMemory& memory) const { return "memory: " + memory_text(memory); }
    /// Describes the run for `kasane check`: reads the files that `run` would read, and creates no state. The text is one line: "257
    /// particles, 40 steps".
    virtual Summary check(const RunControls& controls) = 0;

    /// Creates the state of a new run, before anything is written. @throws InputError; Interrupted
    virtual void create(const RunControls& controls) = 0;
    /// Takes state and record from a checkpoint. @throws InputError: a key that may not change on resume has changed, or the run cannot
    /// continue
    virtual void restore(Checkpoint& checkpoint) = 0;

    /// Steps, sweeps or iterations done in all segments.
    virtual std::int64_t progress() const = 0;
    virtual bool done() const = 0;
    /// The end of the progress bar, in the units of Loop::show().
    virtual double total() const = 0;
    /// Whether the results, and the tables, of a run that is done exist in its directory.
    virtual bool results_in(const RunDirectory&) const { return true; }
    virtual bool tables_in(const RunDirectory&) const { return true; }
    /// The first log line of a segment, without title and directory: "257 particles on cpu, 40 steps".
    virtual std::string headline() const = 0;

    /// Called once per segment, after the log is open.
    virtual void begin(Loop& loop) = 0;
    /// Advances the run, for a fifth of a second where possible, because interrupts and checkpoints are handled between two calls. A longer
    /// call must return when loop.pause() is true.
    virtual void advance(Loop& loop) = 0;
    /// Copies the state and loop.record(), and returns a function that writes them as a checkpoint. The output thread calls the function
    /// while the run goes on. A run may also write the checkpoint itself and return an empty function.
    /// @throws ComputationError: the disk is full; the returned function too
    virtual std::function<void()> save(Loop& loop, const std::filesystem::path& path) = 0;
    /// Writes the results of a run that is done.
    virtual void complete(Loop&) {}
    /// Updates this kind's part of the record.
    virtual void update() {}
    /// Frees the memory of the state when the loop has ended, before the report is written. progress() and done() do not change.
    virtual void release() {}
    /// Writes the tables beside record.json. Called before each write of record.json.
    virtual void write_tables(const RunDirectory&) {}
    /// Status of a run that is done: "done", or another word where it ended without a result; then it sets the record's message.
    virtual std::string outcome() { return "done"; }

    /// Returns fields and text of the result for the command. @param directory  of the run
    virtual Summary summary(const std::filesystem::path& directory) const = 0;
};

/// A kind of run.
struct Kind {
    const char* name;  ///< of run.problem
    const char* step;  ///< unit of progress: "step", "sweep", "iteration"
    /// Folders that a run creates beside checkpoints/.
    std::vector<const char*> folders;
    /// Files that a run writes. @param record  record.json of an earlier run in the directory; null where it cannot be read
    Manifest (*manifest)(const io::Json& record);
    /// Number of checkpoints that stay when a run is done; 0: it continues from its results only.
    int checkpoints_when_done;
    /// File of results that read_checkpoint() can read too, used where there is no checkpoint; null: none.
    const char* results;

    /// Reads and checks a run file. @throws InputError with everything that is wrong with it
    std::unique_ptr<Run> (*read)(const RunSource& source);
    /// @throws InputError: missing, damaged, of another kind
    std::unique_ptr<Checkpoint> (*read_checkpoint)(const std::filesystem::path& path);
    /// This kind's parts of report.html. Adds notes on files that cannot be read to the history.
    RunPage (*page)(RunHistory& history);
    /// The worker loop that the other ranks execute while the root rank runs, one call per segment; null: the kind runs on one rank.
    void (*worker)(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) = nullptr;
};

/// The kinds that a program offers. The first one is assumed for a directory that does not name its kind.
using Kinds = std::vector<const Kind*>;

}  // namespace kasane::run
