// Choices, trials and times of solves, stored on disk for later programs with such a matrix on such a device.
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

/// Identifies the problem of a choice; the library's version belongs to it.
struct TuningKey {
    std::string device;  ///< its name, and its number of threads
    std::string matrix;  ///< rows, entries, distribution of row lengths, distance of entries from the diagonal
    std::string asked;   ///< the options that are fixed, and which are open
    bool operator==(const TuningKey&) const = default;
};

/// @param A in host memory; the values do not matter
TuningKey tuning_key(const std::string& device, const CsrView& A, const SolverOptions& asked);

/// $XDG_CACHE_HOME/kasane/tuning.json, else ~/.cache/kasane/tuning.json; empty where neither variable is set.
std::filesystem::path default_tuning_file();

/// The reason why remember() would leave an existing file as it is, and a remedy; empty: it would write the file.
std::string why_tuning_kept(const std::filesystem::path& file);

/// Results of earlier programs for one key.
struct TuningRecord {
    std::optional<SolverOptions> choice;  ///< the fastest of all candidates: `asked` with its open fields filled in
    int uses = 0;                         ///< of the choice since it was timed
    std::vector<TuneTrial> trials;        ///< of an incomplete tuning
    /// Times of the last Solver whose solves no other program disturbed [s]: all its solves, its set-up, an iteration. 0: unknown.
    double solve_seconds = 0, setup_seconds = 0, iteration_seconds = 0;
    /// Seconds in which a solve reduced the preconditioned residual by a factor of ten, by the rule's options and by the choice. 0:
    /// unknown.
    double rule_decade = 0, choice_decade = 0;
};

struct Recalled {
    TuningRecord record;
    std::string note;  ///< the problem of the file; empty: none
};

/// Reads the record of a key. Never throws because of the file's content or absence.
Recalled recall(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& asked);

/// Changes the record of a key in the file; creates the file and its directory if they are missing.
/// @param change  applied to the present record in the file   @return the reason why the file could not be written; empty if it was written
std::string remember(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& asked,
                     const std::function<void(TuningRecord&)>& change);

}  // namespace kasane::sparse
