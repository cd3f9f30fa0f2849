// Starts, resumes, checks and reports runs of any kind.
// Invariants: a run that was stopped at any moment (a signal, a kill, a full disk) continues with resume() from its newest valid
// checkpoint; files are only overwritten where the user asked for it; an error in the input is reported before anything is written.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

struct RunResult {
    std::filesystem::path directory;
    std::filesystem::path report;  ///< empty when none was written
    std::string status;            ///< done | interrupted | another word of the kind
    std::string message;           ///< the reason where it ended without a result
    double seconds = 0;            ///< wall, of all segments
    Summary summary;               ///< of the kind
};

/// Starts a run. Call it on the root rank of controls.ranks; the same holds for resume().
/// @throws InputError before anything is written; ComputationError when the run fails or the disk is full; Interrupted
RunResult start(const Kinds& kinds, const std::filesystem::path& run_file, const std::vector<io::Setting>& settings,
                RunDirectory::Existing existing, const RunControls& controls = {});

/// Continues a run from its newest valid checkpoint, or from the beginning where it has none. Renames checkpoints that cannot be read, with
/// a warning. Changes nothing of a run that is done. @param settings may change run.device and run.threads
/// @throws InputError, before anything is written, where run.toml has other values of the kept keys than the checkpoint
RunResult resume(const Kinds& kinds, const std::filesystem::path& directory, const std::vector<io::Setting>& settings = {},
                 const RunControls& controls = {});

/// Reads a run file as start() would, and describes the run. @throws InputError
Summary check(const Kinds& kinds, const std::filesystem::path& run_file, const std::vector<io::Setting>& settings,
              const RunControls& controls = {});

/// The page of a run, made from the files of its directory, whether the run is done or not. The page names files that are missing or cannot
/// be read. @param finished  set to whether the run is no longer in progress; may be null
/// @throws InputError: no such directory, or it holds no run
std::string report_page(const Kinds& kinds, const std::filesystem::path& directory, bool* finished = nullptr);

/// Writes report_page() as the directory's report.html, atomically. @returns the path of the page
/// @throws InputError: as report_page(), or the directory is not writable; ComputationError: the disk is full
std::filesystem::path write_report(const Kinds& kinds, const std::filesystem::path& directory);

}  // namespace kasane::run
