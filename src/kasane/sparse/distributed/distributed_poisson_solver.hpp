// The finite-volume Poisson problem on all workers of a communicator: PoissonSolver for a box that is divided into slabs of planes across
// z. A tensor that couples directions has its matrix in rows of the slabs, beside the multigrid of its diagonal part. The root rank has the
// DistributedPoissonSolver; the other ranks are in distributed_poisson_loop(), which executes the commands that the root rank broadcasts.
// Invariants: the problem, b and x as a whole exist on the root rank alone; results are those of PoissonSolver to rounding, with the same
// number of iterations or one more or less.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::sparse {

/// Solves A x = b of one problem (eq. 3 of [HOHNI17]) on many workers.
class DistributedPoissonSolver {
   public:
    /// Only the root rank calls this; every other rank calls distributed_poisson_loop().
    /// @param workers  must outlive the solver   @param here  spaces of this rank's workers, all of one kind
    /// @param problem  of the root rank; not kept; its source is not used
    /// @throws InputError as PoissonSolver (with 2^32 entries or more in the rows of one worker), for fewer than two planes of cells
    ///   for each worker, and where memory is short
    DistributedPoissonSolver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const PoissonProblem& problem,
                             const PoissonSolverOptions& options = {});
    /// Ends the loops of the other ranks.
    ~DistributedPoissonSolver();
    DistributedPoissonSolver(const DistributedPoissonSolver&) = delete;
    DistributedPoissonSolver& operator=(const DistributedPoissonSolver&) = delete;

    /// Does the same as PoissonSolver::solve(). @param b, x  [cells] host memory   @param stop  a stop takes effect within eight iterations
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {});

    /// Results and costs of the set-up; `bytes` of all workers together.
    const PoissonSetupFacts& setup() const;
    /// Changes options that need no new set-up. @throws InputError: out of range
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Memory of one of several workers on its space, at most. [byte] @throws InputError: fewer than two planes of cells for each worker
std::uint64_t distributed_poisson_memory(const PoissonProblem& problem, int workers);

/// Executes the commands of the root rank until its DistributedPoissonSolver is destroyed or could not be made; for the other ranks.
void distributed_poisson_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here);

}  // namespace kasane::sparse
