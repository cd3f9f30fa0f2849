// Runs quenched updates: makes or reads the first links, sweeps over them, measures, writes configurations, and keeps the run directory.
// Invariants: a run that was stopped at any moment goes on with resume_quenched() from its newest valid checkpoint, and on the same device
// and thread count ends in the same bits, for a sweep's random numbers are functions of (seed, link, sweep); nothing is overwritten that
// the user did not give up.
#pragma once

#include <kasane/run/quenched/measurements.hpp>
#include <kasane/run/quenched/quenched_file.hpp>
#include <kasane/run/run.hpp>

namespace kasane::run {

struct QuenchedResult {
    std::filesystem::path directory;
    std::filesystem::path report;         ///< empty when none was written
    std::filesystem::path configuration;  ///< the last one; empty before the end
    std::string status;                   ///< done | interrupted
    std::int64_t sweeps = 0;              ///< done
    double seconds = 0;                   ///< wall, all of the run's lives together
    double link_updates_per_second = 0;
    QuenchedMeans means;
    int configurations = 0;  ///< written, the last one among them
};

/// From the beginning. @throws InputError before anything is written, ComputationError when it blows up or the disk is full
QuenchedResult start(const QuenchedFile& file, RunDirectory::Existing existing, const RunControls& controls = {});

/// Goes on from the newest valid checkpoint (a damaged one is passed over with a warning); from the beginning when the run was stopped
/// before its first. A run that is done is told of and left alone. @param settings may change run.device and run.threads
QuenchedResult resume_quenched(const std::filesystem::path& directory, const std::vector<io::Setting>& settings = {},
                               const RunControls& controls = {});

}  // namespace kasane::run
