// The film of a run, from its snapshots.
// Invariant: the snapshots in memory take a quarter of the free memory, or are a single one.
#pragma once

#include <kasane/report/film.hpp>
#include <kasane/run/gravity/groups.hpp>
#include <kasane/run/gravity/history.hpp>

#include <string>
#include <vector>

namespace kasane::run {

struct Film : report::Film {
    Groups groups;
    std::vector<double> separation;  ///< of the centres of two objects, one per frame [length]; otherwise unknown
    std::vector<std::string> notes;  ///< snapshots that could not be read, and why
};

/// Makes the film of a run; without frames if no snapshot can be read.
Film make_film(const History& history, const report::FilmOptions& options = {});

}  // namespace kasane::run
