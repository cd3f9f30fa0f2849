// The columns of `kasane lattice solve`: their solver, the correlators and the files of their solutions.
#pragma once

#include <app/lattice_solve.hpp>
#include <app/lattice_source.hpp>
#include <kasane/lattice/solution_rows.hpp>

#include <string>

namespace kasane::app {

/// Solves for the columns of the source, on the space where result.on_space. Logs, notes and times become part of the result, which ends
/// with the column that failed where the solver fails.
/// @param links  are freed as soon as the solver has a copy, unless `keep_links`
/// @returns the rows of the solutions of (D / 2 kappa) x = b; not defined unless all converged   @throws InputError; Interrupted
lattice::SolutionRows solve_columns(const Common& common, const Workers& workers, const lattice::RankGrid& grid, lattice::GaugeField& links,
                                    const LatticeSolveOptions& options, bool keep_links, const LatticeSource& source,
                                    LatticeSolveResult& result);

/// Computes the correlators of a propagator, and writes the files that the options name.
void write_solutions(const LatticeSolveOptions& options, const LatticeSource& source, const lattice::SolutionRows& rows,
                     LatticeSolveResult& result);

/// The page beside the file of a propagator.
std::string page_of(const std::string& solution);
/// "1.5 GiB"
std::string size_text(double bytes);

}  // namespace kasane::app
