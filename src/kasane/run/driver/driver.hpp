// Starts, resumes, checks and reports runs of any kind.
// Invariants: a run that was stopped at any moment (a signal, a kill, a full disk) continues with resume() from its newest valid
// checkpoint; nothing is overwritten that the user did not give up; an error in the input is reported before anything is written.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

struct RunResult {
    std::filesystem::path directory;
    std::filesystem::path report;  ///< empty when none was written
    std::string status;            ///< done | interrupted | a word of the kind
    std::string message;           ///< why it ended without a result
    double seconds = 0;            ///< wall, of all segments
    Summary summary;               ///< of the kind
};

/// From the beginning; on the root rank of controls.ranks, as resume().
/// @throws InputError before anything is written; ComputationError when the run fails or the disk is full; Interrupted
RunResult start(const Kinds& kinds, const std::filesystem::path& run_file, const std::vector<io::Setting>& settings,
                RunDirectory::Existing existing, const RunControls& controls = {});

/// Continues from the newest valid checkpoint (one that cannot be read is renamed, with a warning); from the beginning where the run was
/// stopped before its first. Changes nothing of a run that is done. @param settings may change run.device and run.threads
/// @throws InputError, before anything is written, where run.toml has other values of the kept keys than the checkpoint
RunResult resume(const Kinds& kinds, const std::filesystem::path& directory, const std::vector<io::Setting>& settings = {},
                 const RunControls& controls = {});

/// Reads a run file as start() would, and says what it would do. @throws InputError
Summary check(const Kinds& kinds, const std::filesystem::path& run_file, const std::vector<io::Setting>& settings,
              const RunControls& controls = {});

/// Writes the directory's report.html, whole or not at all, from its files alone, whether the run is done or not. A file that is missing or
/// cannot be read is named in the page and left out. @returns the path of the page
/// @throws InputError: no such directory, it holds no run, or it is not writable; ComputationError: the disk is full
std::filesystem::path write_report(const Kinds& kinds, const std::filesystem::path& directory);

}  // namespace kasane::run
