// Several results of one command: `kasane lattice measure CONFIG...` and `kasane lattice solve` with several configurations or kappas. Each
// result is a task that one worker computes; a task that fails does not end the others.
// Invariants: the result file of a task appears complete or not at all, when the task is done; one that exists is used again only if it was
// computed from the same inputs and the same configuration; results do not depend on the number of workers beyond rounding.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <app/lattice_workers.hpp>
#include <kasane/lattice/file/gauge_file.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::app {

struct BatchTask {
    std::string file;         ///< of the configuration
    std::string label;        ///< names the task in messages
    std::string result_file;  ///< JSON; empty: none is written
    io::Json inputs;          ///< determine the result together with the configuration
    io::Json parameters;      ///< for the function that computes it
};

struct BatchResult {
    io::Json value;        ///< null where there is none
    std::string failure;   ///< the reason where the task failed
    int status = success;  ///< of the failure
    bool kept = false;     ///< read from a result file of an earlier command

    bool failed() const { return !failure.empty(); }
};

/// Where a task is computed: one worker, and the number of workers that share its host.
struct BatchPlace {
    AnySpace space;
    int on_this_host = 1;
};
/// Computes a result. @throws as a command for one configuration
using BatchFunction = io::Json (*)(const BatchPlace& place, lattice::GaugeFile& gauge, const io::Json& parameters);

/// @throws InputError where a configuration is named twice, or where two results would have the same file
void check_batch(const std::vector<BatchTask>& tasks);
/// Creates the directory of results. @throws InputError where it cannot be written
void make_result_directory(const std::string& directory);
/// DIRECTORY/NAME.json, or nothing without a directory.
std::string result_file(const std::string& directory, const std::string& name);

/// Reads the headers of all configurations. Tasks whose configuration cannot be read, or has other extents than the first one, have failed.
/// @param extents  out: of the configurations that remain   @throws InputError where no configuration can be read
std::vector<BatchResult> read_headers(const std::vector<BatchTask>& tasks, lattice::Extents& extents);
/// Whether a result that exists is used: it has the numbers that tables need, and the other files that the task writes exist.
using UsableResult = std::function<bool(const BatchTask& task, const io::Json& result)>;
/// Reads the result files that exist, for tasks that have not failed. @param verb  the command that wrote them
/// @throws InputError naming each file that is not a result of this command, or one of other inputs or another configuration
void read_earlier_results(const std::string& verb, const std::vector<BatchTask>& tasks, const UsableResult& usable,
                          std::vector<BatchResult>& results);

/// Computes the results that are missing, one task on one worker at a time; the tasks of a configuration stay together where there are
/// enough configurations for all workers. Failures are logged as they occur. @param verb  "lattice measure" or "lattice solve"
/// @returns false where an interrupt ended it early
bool compute_results(const Common& common, const Workers& workers, const std::string& verb, const std::vector<BatchTask>& tasks,
                     std::vector<BatchResult>& results);
/// The same, one task after the other, each by `compute` on all workers.
bool compute_results_on_grid(const Common& common, const std::string& verb, const std::vector<BatchTask>& tasks,
                             const std::function<io::Json(const BatchTask&)>& compute, std::vector<BatchResult>& results);

/// The worker loop of compute_results() for all ranks except the root rank.
inline constexpr const char* lattice_batch_loop = "lattice batch";
void run_lattice_batch_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// [{file, label, message}] of the tasks that failed.
io::Json failures(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results);
/// Logs how many tasks failed. @returns the exit status: 2 after bad input, else 1 after a failed computation
int conclude(const std::vector<BatchTask>& tasks, const std::vector<BatchResult>& results);
/// @throws Interrupted with the place of the results so far
[[noreturn]] void end_interrupted(const std::string& directory);

/// Computes the results of the two commands for one configuration.
io::Json measure_task(const BatchPlace& place, lattice::GaugeFile& gauge, const io::Json& parameters);
io::Json solve_task(const BatchPlace& place, lattice::GaugeFile& gauge, const io::Json& parameters);

}  // namespace kasane::app
