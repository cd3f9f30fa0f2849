// The workers of one rank of a DistributedSolver, and the messages between them and the root rank.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/solver_commands.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace kasane::lattice {

/// One worker's operators and fields.
class WorkerSolver {
   public:
    virtual ~WorkerSolver() = default;
    /// @param x  first guess in unless from_zero, solution out; of the local lattice, as b
    virtual SolveLog solve(const SpinorField& b, SpinorField& x, bool from_zero, const krylov::StopFunction& stop) = 0;
    virtual void apply(const SpinorField& in, SpinorField& out, bool adjoint) = 0;
    /// Returns the report of the whole lattice, as WilsonSolver::coherent().
    virtual CoherentReport coherent() = 0;

    /// Deflates the solves that follow by the lowest modes of the whole lattice. @return all but their vectors
    virtual Eigenmodes find_modes(const EigenmodeOptions& options) = 0;
    virtual void store_mode(std::size_t i, SpinorField& out) const = 0;
    virtual void take_mode(double value, const SpinorField& mode) = 0;
    virtual double worst_mode() = 0;  ///< as ResidentSolver's
    virtual void drop_modes() = 0;
};

class LocalSolvers {
   public:
    /// Collective over the ranks. @param links  of the whole lattice on the root rank; not read on the others
    /// @throws InputError on every rank when a worker cannot be made
    LocalSolvers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const SolverSetup& setup,
                 const GaugeField& links);

    /// Executes a command. Collective. Fields are of the whole lattice on the root rank, and empty on the others.
    /// @param b  right-hand side, or the field to be multiplied   @param x  first guess and result
    SolveLog run(const SolverCommand& command, const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop);
    /// As DistributedSolver::deflate(). Collective. @return complete on the root rank
    Eigenmodes find_modes(const EigenmodeOptions& options, bool collect);
    /// As DistributedSolver::deflate(). Collective. @param modes  on the root rank; not read on the others   @param count  of modes
    void take_modes(const Eigenmodes& modes, std::size_t count);
    /// The report of the first worker here.
    CoherentReport coherent() { return workers_.front()->coherent(); }

   private:
    comm::WorkerCommunicator& communicator_;
    std::vector<AnySpace> here_;
    RankGrid grid_;
    std::vector<std::unique_ptr<WorkerSolver>> workers_;
};

}  // namespace kasane::lattice
