// Choices that were timed once, kept on disk for the next program that has such a matrix on such a device.
// Invariants: what is read is a hint from anybody: a file or an entry that is damaged, foreign or hostile is passed over with a note and
// never stops a solve; the file is replaced whole, with what other programs wrote meanwhile; an option that was not left open stays.
#pragma once

#include <kasane/sparse/solver.hpp>

#include <filesystem>
#include <optional>
#include <string>

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

struct Recalled {
    std::optional<SolverOptions> options;  ///< `asked` with its open fields filled in; empty: nothing is known
    std::string note;                      ///< what was wrong with the file; empty: nothing
};

/// Never throws for what is in the file, nor for its absence.
Recalled recall(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& asked);

/// Writes the choice into the file, made with its directory where it is missing.
/// @param chosen  ordering, numbering and format decided   @return why it could not be written; empty: it was
std::string remember(const std::filesystem::path& file, const TuningKey& key, const SolverOptions& chosen);

}  // namespace kasane::sparse
