// Choices, trials and times of solves, kept on disk for the next program that has such a matrix on such a device.
// Invariants: the content of the file is not trusted: a file or an entry that is damaged, foreign or hostile is ignored with a note and
// never stops a solve; the file is replaced as a whole, other programs' entries included; an option that was given keeps its value.
#pragma once

#include <kasane/sparse/tune/candidates.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kasane::sparse {

/// What a choice was made for; the library's version goes with it.
struct TuningKey {
    std::string device;  ///< its name, and how many threads of it
    std::string matrix;  ///< rows, entries, how row lengths are distributed, how far from the diagonal entries lie
    std::string asked;   ///< the options that are fixed, and which are open
    bool operator==(const TuningKey&) const = default;
};

/// @param A in host memory; the values do not matter
TuningKey tuning_key(const std::string& device, const CsrView& A, const SolverOptions& asked);

/// $XDG_CACHE_HOME/kasane/tuning.json, else ~/.cache/kasane/tuning.json; empty where neither is known.
std::filesystem::path default_tuning_file();

/// What earlier programs found out for one key.
struct TuningRecord {
    std::optional<SolverOptions> choice;  ///< the fastest of all candidates: `asked` with its open fields filled in
    int uses = 0;                         ///< of the choice since it was timed
    std::vector<TuneTrial> trials;        ///< of a tuning that is not complete yet
    /// Of the last Solver whose solves no other program disturbed [s]: all its solves together, its set-up, an iteration. 0: not known.
    double solve_seconds = 0, setup_seconds = 0, iteration_seconds = 0;
    /// Seconds in which a solve reduced the preconditioned residual by a factor of ten, by the rule's options and by the choice. 0: not
    /// known.
    double rule_decade = 0, choice_decade = 0;
};

struct Recalled {
    TuningRecord record;
    std::string note;  ///< what was wrong with the file; empty: nothing
};

/// Never throws for what is in the file, nor for its absence.
Recalled recall(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& asked);

/// Changes the record of a key in the file, made with its directory where it is missing.
/// @param change  of the record as it is in the file now   @return why it could not be written; empty: it was
std::string remember(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& asked,
                     const std::function<void(TuningRecord&)>& change);

}  // namespace kasane::sparse
