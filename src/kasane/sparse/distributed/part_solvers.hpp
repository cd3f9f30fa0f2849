// The workers of one rank of a DistributedSolver, and the messages between them and the root rank. All members are collective over the
// ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/sparse/distributed/part_solver.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::sparse {

class PartSolvers {
   public:
    /// @param parts  of all workers on the root rank; not read on the others   @throws as part_solver()
    PartSolvers(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const PartSetup& setup, std::vector<RowPart> parts);

    /// Of all workers together.
    std::uint64_t bytes() const { return bytes_; }
    /// The largest of all workers.
    double shift() const { return shift_; }

    /// @param b, x   of all workers on the root rank, worker by worker; not read or written on the others
    /// @param begin  [workers + 1] first number of each worker; read on the root rank alone   @param stop  called on the root rank
    SolveLog solve(const std::vector<double>& b, std::vector<double>& x, const std::vector<index_t>& begin, const StopFunction& stop);

   private:
    comm::WorkerCommunicator& workers_;
    std::vector<std::unique_ptr<PartSolver>> solvers_;
    std::uint64_t bytes_ = 0;
    double shift_ = 0;
};

}  // namespace kasane::sparse
