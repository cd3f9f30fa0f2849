// Runs a Poisson problem: assembles it, solves it, and keeps the run directory.
// Invariants: a solve that was stopped goes on with resume_poisson() from its iterate (the Krylov space is built anew, so it takes some
// iterations more than an uninterrupted one); a solve that does not converge leaves everything that one that does leaves behind; nothing
// is overwritten that the user did not give up.
#pragma once

#include <kasane/run/poisson/poisson_file.hpp>
#include <kasane/run/run.hpp>

namespace kasane::run {

struct PoissonResult {
    std::filesystem::path directory;
    std::filesystem::path report;  ///< empty when none was written
    std::string status;            ///< done | not converged | interrupted
    std::string message;           ///< why it did not converge, and what helps
    double seconds = 0;            ///< wall, all of the run's lives together
    sparse::SetupFacts setup;      ///< of the last life
    sparse::SolveLog log;          ///< of all lives together
};

/// From the beginning, x = 0. @throws InputError before anything is written, ComputationError when memory is short or the disk is full
PoissonResult start(const PoissonFile& file, RunDirectory::Existing existing, const RunControls& controls = {});

/// Goes on from the newest valid checkpoint, or from the solution that did not converge, with solver.max_iterations anew; from the
/// beginning when there is neither. A run that is done is told of and left alone. @param settings may change run.device and run.threads
PoissonResult resume_poisson(const std::filesystem::path& directory, const std::vector<io::Setting>& settings = {},
                             const RunControls& controls = {});

}  // namespace kasane::run
