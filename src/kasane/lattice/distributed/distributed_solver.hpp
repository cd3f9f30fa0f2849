// D x = b on all workers of a communicator: WilsonSolver for a lattice that is divided among them. The root rank has the DistributedSolver;
// the other ranks are in solver_worker_loop(), which executes the commands that the root rank broadcasts.
// Invariants: links and fields of the whole lattice exist on the root rank alone, which sends each worker its part; during a solve only
// halos and sums are sent; all workers take the same decisions. Results are those of one device to rounding.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

class LocalSolvers;

class DistributedSolver {
   public:
    /// Only the root rank calls this; every other rank calls solver_worker_loop().
    /// @param communicator  must outlive the solver   @param here  the spaces of this rank's workers   @param links  of the whole lattice
    /// @param grid  of as many workers as the communicator has
    /// @throws InputError as WilsonSolver, naming the worker with the problem; and as check_distributed()
    DistributedSolver(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const RankGrid& grid,
                      const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options = {});
    ~DistributedSolver();
    DistributedSolver(const DistributedSolver&) = delete;
    DistributedSolver& operator=(const DistributedSolver&) = delete;

    /// Does the same as WilsonSolver::solve(). @param stop  called on the root rank; a stop takes effect within eight iterations
    SolveLog solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop = {});
    /// Does the same as WilsonSolver::apply().
    void apply(const SpinorField& in, SpinorField& out, bool adjoint = false);

    /// Does the same as WilsonSolver::deflate(). @throws InputError as there, naming the worker that lacks memory
    void deflate(const Eigenmodes& modes);
    /// Computes the lowest modes on the workers, as lowest_eigenmodes(), and deflates the solves that follow by them.
    /// @param collect  the result has their vectors, which need the memory of whole fields on this host; otherwise it has none
    /// @throws InputError: options of the solver that cannot be deflated, options out of range, or too little memory; ComputationError as
    /// lowest_eigenmodes()
    Eigenmodes deflate(const EigenmodeOptions& options, bool collect = false);

    /// Returns the same as WilsonSolver::coherent().
    CoherentReport coherent() const;

    const RankGrid& grid() const { return grid_; }

   private:
    void require(const SpinorField& field, const char* what) const;

    comm::Communicator& ranks_;
    RankGrid grid_;
    DiracParameters parameters_;
    SolverOptions options_;
    double plaquette_ = 0;
    std::vector<Su3<double>> gauge_;  ///< empty unless the solver works in the temporal gauge
    std::unique_ptr<LocalSolvers> workers_;
};

/// Executes the commands of the root rank until its DistributedSolver is destroyed or could not be made; for all ranks but the root rank.
void solver_worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// @throws InputError for options that only one device has, and for blocks that do not divide the local lattices
void check_distributed(const SolverOptions& options, const RankGrid& grid);

/// Returns the problems of the blocks of options on the local lattices of this grid, with usable blocks; empty if there are none.
std::vector<std::string> schwarz_problems(const SolverOptions& options, const RankGrid& grid);
std::vector<std::string> coherent_problems(const SolverOptions& options, const RankGrid& grid);

}  // namespace kasane::lattice
