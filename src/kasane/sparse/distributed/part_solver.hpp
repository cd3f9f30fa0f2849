// One worker's system of a distributed solver: its part of the operator, its preconditioner and its vectors.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/distributed/box_part.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::sparse {

/// Parameters that the root rank broadcasts to all ranks before the parts.
struct PartSetup {
    std::uint64_t kind = 0;                         ///< of the workers' spaces: index of the alternative of AnySpace
    Precondition precondition = Precondition::ic0;  ///< of a RowPart
    std::int64_t positive = 1;                      ///< the matrix may be positive definite
    GeneralMethod method = GeneralMethod::cg;       ///< not automatic
    std::int64_t restart = 30;                      ///< iterations of a cycle of gmres
    std::int64_t block = 1;                         ///< rows of dense blocks; 1: scalar rows
    std::int64_t coarse_rows = 0;                   ///< of the coarse system, about; 0: there is none
};

/// Tolerance and limits that end a solve.
struct Tolerance {
    double rtol = 1e-8;
    std::int64_t iteration_limit = 10000;
};

/// @tparam User  of vectors: double or std::complex<double>
template <class User>
class PartSolver {
   public:
    virtual ~PartSolver() = default;
    /// Collective over the workers. @param b, x  own numbers; x: first guess in, solution out   @param stop  called on worker 0 alone
    virtual SolveLog solve(const std::vector<User>& b, std::vector<User>& x, const Tolerance& tolerance, const StopFunction& stop) = 0;
    /// Collective over the workers, for a part of a matrix that may be positive definite, with a preconditioner without overlap.
    /// @param X  own numbers of each vector of the block: start in, vectors out, of the `wanted` first ones   @param stop  as of solve()
    /// @return without `vectors`   @throws InputError on every worker where memory is short; LogicError where there are no eigenvalues
    virtual Eigenpairs eigenpairs(const std::vector<std::vector<User>*>& /*X*/, int /*wanted*/, const Tolerance&, const StopFunction&) {
        throw LogicError("eigenvalues are those of a real matrix that is divided by rows.");
    }
    /// Bytes of operator, preconditioner and vectors.
    virtual std::uint64_t bytes() const = 0;
    /// Shift of the factors' diagonal.
    virtual double shift() const { return 0; }
    /// Rows of the coarse system; 0: there is none.
    virtual index_t coarse_rows() const { return 0; }
    /// Cells of the grids of multigrid on a box, the finest first.
    virtual std::vector<std::array<int, 3>> grids() const { return {}; }
};

/// Collective over the workers. @throws InputError or PreconditionError on every worker, naming the worker that is the reason
template <class User>
std::unique_ptr<PartSolver<User>> part_solver(const AnySpace& on, comm::Worker& worker, const RowPartOf<User>& part,
                                              const PartSetup& setup);
std::unique_ptr<PartSolver<double>> part_solver(const AnySpace& on, comm::Worker& worker, const BoxPart& part, const PartSetup& setup);

}  // namespace kasane::sparse
