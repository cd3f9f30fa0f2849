// The workers of `kasane lattice solve` and `measure`: one device, or those of all ranks, in a grid.
#pragma once

#include <app/workers.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

/// --grid and --gpus-per-rank.
void add_workers(CLI::App& app, std::string& grid, int& gpus_per_rank);
/// "x,y,z,t"; nothing for an empty text.
std::optional<lattice::GridShape> parsed_grid(const std::string& text);
/// The grid of this shape, or the best one. @throws InputError with the usable grids
lattice::RankGrid grid_of(const std::optional<lattice::GridShape>& shape, const lattice::Extents& lattice, int workers);

/// A solver on the workers.
struct LatticeSolver {
    /// WilsonSolver::solve of several right-hand sides, or DistributedSolver::solve of one after the other.
    std::function<std::vector<lattice::SolveLog>(const std::vector<lattice::SpinorField>& b, std::vector<lattice::SpinorField>& x,
                                                 const krylov::StopFunction& stop)>
        solve;
    std::shared_ptr<lattice::WilsonSolver> alone;         ///< of one worker; null: of several
    std::shared_ptr<lattice::DistributedSolver> divided;  ///< of several; null: of one
};

/// Makes a solver on the workers. @param coherent  becomes the report on inexact deflation
/// @throws InputError as WilsonSolver
LatticeSolver solver_on(const Common& common, const Workers& workers, const lattice::RankGrid& grid, const lattice::GaugeField& links,
                        const lattice::DiracParameters& parameters, const lattice::SolverOptions& options,
                        lattice::CoherentReport* coherent);

/// The worker loops of `kasane lattice solve` and `measure` for the ranks but the root rank.
inline constexpr const char* lattice_solve_loop = "lattice solve";
void run_lattice_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);
inline constexpr const char* lattice_measure_loop = "lattice measure";
void run_lattice_measure_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

}  // namespace kasane::app
