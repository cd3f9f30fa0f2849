// `kasane lattice solve`: options, the solution of one configuration and kappa, and the tables of several.
#pragma once

#include <app/lattice_solve_result.hpp>
#include <app/lattice_workers.hpp>
#include <kasane/lattice/dirac/eigenmodes.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/lattice/file/gauge_file.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

struct LatticeSolveOptions {
    std::vector<std::string> configurations;
    std::vector<double> kappas, masses;
    std::string configuration, solution, source = "point:0,0,0,0", boundary = "antiperiodic", inner = "auto", solver;
    std::string schur = "symmetric", links = "18", inner_links = "12", basis = "degrand-rossi", grid, precondition = "none";
    std::vector<int> block;
    double kappa = 0, csw = 0;  ///< kappa and configuration: of one solution
    int gpus_per_rank = 1, bin = 1;
    int columns = 0;  ///< at once; 0: as many as fit
    int deflate = 0;  ///< modes or near-null vectors; 0: no deflation
    std::string deflation = "exact";
    std::vector<int> deflation_block;
    std::string modes;  ///< file of modes
    lattice::SolverOptions options;
    bool half_links = false, temporal_gauge = false, force = false, fields = false;
};

/// Solves for the columns of the source, and writes the files that the options name. @param shape  of the grid of workers
/// @param gauge  its links are freed as soon as the solver has a copy, unless `keep_links`   @param log_memory  logs the memory, and
/// compares it with the free memory   @throws InputError; Interrupted
LatticeSolveResult solve_configuration(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& shape,
                                       lattice::GaugeFile& gauge, const LatticeSolveOptions& options, bool keep_links, bool log_memory);
/// Logs the memory of solves on a lattice. @param together  configurations at a time, one on each worker   @throws InputError where it is
/// not free
void check_solve_memory(const LatticeSolveOptions& options, const Workers& workers, const lattice::Extents& extents, int together);
/// @throws InputError: a source or blocks that do not fit the lattice
void check_extents_of(const LatticeSolveOptions& options, const Workers& workers, const lattice::Extents& extents);
/// Columns of the source: 12, or 1.
int columns_of(const LatticeSolveOptions& options);
/// The modes of --deflate from the file of --modes, where it exists. @throws InputError: a damaged file, or one with fewer modes
std::optional<lattice::Eigenmodes> modes_of_file(const LatticeSolveOptions& options);
/// The modes of --deflate for one device: those of the file, otherwise computed, and written where a file is named. Empty without
/// --deflate.
/// @throws InputError as modes_of_file(); ComputationError
std::optional<lattice::Eigenmodes> modes_of(const LatticeSolveOptions& options, const AnySpace& on, const lattice::GaugeField& links,
                                            const lattice::DiracParameters& parameters);
/// Deflates a divided solver by the modes of --deflate, which the workers compute where there are none of a file. @returns their number
int deflate_on_workers(const LatticeSolveOptions& options, const std::optional<lattice::Eigenmodes>& of_file,
                       lattice::DistributedSolver& solver);
/// "not solved: " and an advice.
std::string failure_text(const LatticeSolveResult& result);

/// Several configurations or kappas, or results in a directory. @returns the exit status
int solve_many(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& shape,
               const LatticeSolveOptions& options);

}  // namespace kasane::app
