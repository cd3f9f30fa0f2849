// The report of a Poisson run: one self-contained page with three slices of the potential, the residuals, the set-up and the facts.
#pragma once

#include <kasane/run/poisson/poisson_output.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

/// Is the run in this directory a Poisson problem, by its record or its run file?
bool holds_poisson_run(const std::filesystem::path& directory);

/// What a run directory tells; what is missing is empty, and told in notes.
struct PoissonHistory {
    std::filesystem::path directory;
    PoissonRecord record;
    std::optional<Solution> solution;  ///< or the newest checkpoint
    std::string run_file;
    std::vector<std::string> notes;
};

/// @throws InputError: no such directory, or it holds neither a record nor a run file
PoissonHistory read_poisson_history(const std::filesystem::path& directory);

/// The whole document.
std::string poisson_page(const PoissonHistory& history);

/// Writes the directory's report.html, whole or not at all. @returns its path   @throws as read_poisson_history; ComputationError: disk
/// full
std::filesystem::path write_poisson_report(const std::filesystem::path& directory);

}  // namespace kasane::run
