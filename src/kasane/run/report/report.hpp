// The report of a run: one self-contained page, report.html; of a gravity run with the film of the particles, the curves of energy.csv,
// the speed and the facts of record.json, of a Poisson problem with slices of the solution (poisson_report.hpp), of quenched updates with
// the measurements (quenched_report.hpp).
#pragma once

#include <filesystem>

namespace kasane::run {

/// Reads a run directory, finished or not, and writes its report.html (whole or not at all). What is missing or unreadable is
/// named in the page and left out. Holds one snapshot in memory at a time.
/// @returns the path of the page
/// @throws InputError: no such directory, it holds no run, or it is not writable; ComputationError: the disk is full
std::filesystem::path write_report(const std::filesystem::path& run_directory);

}  // namespace kasane::run
