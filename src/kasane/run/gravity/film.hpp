// The film of a run, from its snapshots.
// Invariant: the snapshots in memory take 16 MiB and a quarter of the free memory at most, or are a single one.
#pragma once

#include <kasane/report/film.hpp>
#include <kasane/run/gravity/groups.hpp>
#include <kasane/run/gravity/history.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

struct Film : report::Film {
    Groups groups;
    std::vector<double> separation;  ///< of the centres of two objects, one per frame [length]; otherwise unknown
    std::vector<std::string> notes;  ///< snapshots that could not be read, and why
};

/// Largest host memory that the report of a run takes [byte].
struct ReportMemory {
    /// For each particle: a snapshot without velocities 41 and its groups 1; while objects are found, their positions 24 and distances 8.
    /// Later parts take less: the scene 33, sorted coordinates 24 or points of a picture 12.
    static constexpr std::uint64_t of_particle = 41 + 1 + 24 + 8;
    /// For any number of particles: scenes that are kept, the pictures of all frames, those that are drawn at once, and the page.
    std::uint64_t pictures = 0;
};
/// Returns the memory of a report that all threads of the CPU make.
ReportMemory report_memory();
/// Makes the film of a run; without frames if no snapshot can be read.
Film make_film(const History& history, const report::FilmOptions& options = {});

}  // namespace kasane::run
