// Runs a run file: makes the particles, steps them, and keeps the run directory.
// Invariants: a run that was stopped at any moment (a signal, a kill, a full disk) goes on with resume() from its newest valid
// checkpoint, and ends in the same bits: by direct summation on any number of ranks of devices of one kind, by a tree on the same device
// and thread count; nothing is overwritten that the user did not give up.
#pragma once

#include <kasane/core/base/interrupted.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/run/crew.hpp>
#include <kasane/run/run_directory.hpp>
#include <kasane/run/run_file.hpp>

#include <functional>

namespace kasane::run {

struct RunControls {
    ProgressStyle progress = ProgressStyle::none;
    std::function<bool()> stop = [] { return false; };  ///< asked after every few steps: finish, save and return?
    /// For work that leaves nothing behind. @throws Interrupted when asked to stop
    void throw_if_stopped() const {
        if (stop()) throw Interrupted();
    }
    Crew* crew = nullptr;  ///< the one that the run file was read with; null: this process alone
};

struct RunResult {
    std::filesystem::path directory;
    std::filesystem::path report;  ///< empty when none was written
    std::string status;            ///< done | interrupted
    std::int64_t steps = 0;        ///< macro steps: dt, or dt_max of adaptive and block steps
    std::int64_t block_steps = 0;  ///< forces evaluated; as many as steps when dt is constant
    double time = 0;
    double seconds = 0;                                   ///< wall, all of the run's lives together
    double step_seconds = 0, predicted_step_seconds = 0;  ///< wall, of a macro step, and what the model says; 0: not known
    double relative_energy_error = 0;                     ///< largest |E - E0| / |E0| of any diagnostic step
    std::vector<std::string> warnings{};                  ///< of the model: see Sampling::warnings()
};

/// From the beginning; on rank 0 of a crew, as resume(). @throws InputError before anything is written, ComputationError when it blows up
/// or the disk is full
RunResult start(const RunFile& file, RunDirectory::Existing existing, const RunControls& controls = {});

/// Goes on from the newest valid checkpoint (one that cannot be read is renamed, with a warning); from the beginning when the run was
/// stopped before its first. Of a run that is done nothing is changed. @param settings may change run.device and run.threads
/// @throws InputError, before anything is written, when run.toml has other values of kept_keys() than the checkpoint
RunResult resume(const std::filesystem::path& directory, const std::vector<io::Setting>& settings = {}, const RunControls& controls = {});

}  // namespace kasane::run
