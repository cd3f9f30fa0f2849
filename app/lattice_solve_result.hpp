// The output of `kasane lattice solve`: JSON, text, and a page with the correlators drawn.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/file/solution_file.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <string>
#include <vector>

namespace kasane::app {

/// Wall time of the parts of one solution [s].
struct LatticeSolveTimes {
    double reading = 0;  ///< of the configuration; 0 where it is solved for several times
    double setup = 0;    ///< checks, links on the space, the solver
    double solving = 0;  ///< sources, solves, copies between them
    double output = 0;   ///< correlators and files
};

struct LatticeSolveResult {
    lattice::Extents extents;
    std::string gauge_format, device;
    lattice::GridShape grid{1, 1, 1, 1};  ///< of workers
    lattice::SolutionFacts facts;
    lattice::SolverOptions options;
    lattice::MemoryPerSite memory;
    int modes = 0;                     ///< that were deflated
    lattice::CoherentReport coherent;  ///< of inexact deflation
    int columns = 12;                  ///< that were requested
    int columns_at_once = 1;           ///< that were solved together
    bool on_space = false;             ///< sources are made and solutions stay on the device
    LatticeSolveTimes wall;
    std::vector<lattice::SolveLog> logs;  ///< of the columns that were solved; the last one may have failed
    std::vector<double> pion_mass;        ///< effective
    std::vector<std::string> notes;
    std::string solution, page;  ///< files; empty: not written

    bool converged() const { return !logs.empty() && logs.back().converged(); }
    double worst_residual() const;
    double seconds() const;
};

io::Json as_json(const LatticeSolveResult& result);
std::string as_text(const LatticeSolveResult& result);
/// A whole HTML document of a propagator.
std::string as_page(const LatticeSolveResult& result);

/// The remedy for a solve with this outcome.
std::string advice(krylov::Outcome end);

}  // namespace kasane::app
