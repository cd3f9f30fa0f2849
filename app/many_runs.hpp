// `kasane run` with several run files or several values of a key: each run has a directory of its own, and one run that fails does not end
// the others. With ranks of an MPI launcher each rank computes one run at a time.
// Invariants: every run file is read before the first run begins, so that bad input ends the command before anything is written; a run is
// that of a command of its own, for any number of ranks.
#pragma once

#include <app/command.hpp>

#include <kasane/core/comm/worker.hpp>

#include <string>
#include <vector>

namespace kasane::app {

struct RunOptions {
    std::vector<std::string> files;
    std::string directory;          ///< -o; empty: output.directory of each file
    std::vector<std::string> set;   ///< KEY=VALUE, of all runs
    std::vector<std::string> each;  ///< KEY=VALUE,VALUE,...: a run for each value
    bool force = false;             ///< replace runs in the directories
};

/// "KEY=A,B" as {"KEY", {"A", "B"}}; commas in brackets, braces and quotes belong to a value.
/// @throws InputError: no key, no value, or an empty one
struct EachValue {
    std::string key;
    std::vector<std::string> values;
};
EachValue each_value(const std::string& text);

/// Starts all runs, and continues those that an earlier command of the same words left. @returns the exit status: 130 after an interrupt,
/// else 2 after bad input in a run, 1 after a failure, 0
int run_many(const Common& common, const RunOptions& options);

/// The worker loop of run_many() for all ranks except the root rank.
inline constexpr const char* many_runs_loop = "several runs";
void run_many_runs_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

}  // namespace kasane::app
