// The report of a quenched run: one self-contained page with the history of the plaquette, the Polyakov loop in the complex plane, how the
// measurements hang together, the speed and the facts.
#pragma once

#include <kasane/run/quenched/quenched_record.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// Is the run in this directory one of quenched updates, by its record or its run file?
bool holds_quenched_run(const std::filesystem::path& directory);

/// What a run directory tells; what is missing is empty, and told in notes.
struct QuenchedHistory {
    std::filesystem::path directory;
    QuenchedRecord record;  ///< with its means computed anew from the measurements
    std::vector<Measurement> measurements;
    std::string run_file;
    std::vector<std::string> notes;
};

/// @throws InputError: no such directory, or it holds neither a record nor a run file
QuenchedHistory read_quenched_history(const std::filesystem::path& directory);

/// The whole document.
std::string quenched_page(const QuenchedHistory& history);

/// Writes the directory's report.html, whole or not at all. @returns its path   @throws as read_quenched_history; ComputationError: disk
/// full
std::filesystem::path write_quenched_report(const std::filesystem::path& directory);

}  // namespace kasane::run
