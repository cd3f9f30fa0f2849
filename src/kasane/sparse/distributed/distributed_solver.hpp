// A x = b on all workers of a communicator: neighbouring rows of A belong to each worker, and each solves its own rows as the
// preconditioner. The root rank has the DistributedSolver; the other ranks are in distributed_solver_loop(), which executes the commands
// that the root rank broadcasts.
// Invariants: A, b and x as a whole exist on the root rank alone; during a solve only numbers of neighbouring rows and sums travel; all
// workers take the same decisions. A solve that does not converge returns its log and never throws for a numerical reason.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/solver.hpp>

#include <complex>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace kasane::sparse {

/// Options of a DistributedSolver, and of a DistributedComplexSolver, which has no blocks.
struct DistributedOptions {
    Precondition precondition = Precondition::ic0;  ///< of each worker's subdomain: jacobi, ic0 (ILU(0) where A is not symmetric or
                                                    ///< Hermitian), multigrid (complex A: where it may be positive definite)
    int overlap = 0;                                ///< layers of other workers' rows in a subdomain, 0 to 8: RAS; not for cg and minres
    /// Rows of the coarse system that joins the subdomains of a positive definite matrix, about; 0: none. Empty: 256 on CPUs, none on
    /// devices, where its set-up takes longer than one solve saves (docs/sparse-ranks.md).
    std::optional<int> coarse_rows = {};
    /// Rows of dense blocks, as SolverOptions::block: 2 to 6; 1: scalar rows; 0: the size that fits. For jacobi and ic0 of a matrix that
    /// may be positive definite; no block is divided among workers.
    int block = 1;
    /// automatic: cg where A may be positive definite and subdomains do not overlap, otherwise bicgstab. cg takes real symmetric and
    /// complex Hermitian matrices; minres real symmetric ones, with zeros on the diagonal, too, with jacobi and no coarse system.
    GeneralMethod method = GeneralMethod::automatic;
    int restart = 30;             ///< iterations of a cycle of gmres, 1 to 1000
    double rtol = 1e-8;           ///< tolerance of ||b - A x|| / ||b||; as krylov::Options::rtol
    int iteration_limit = 10000;  ///< as krylov::Options::iteration_limit
};

/// Solves A x = b for one A and any number of right-hand sides, and finds eigenvalues of A.
/// @tparam User  of matrix and vectors: double or std::complex<double>
template <class User>
class DistributedSolverOf {
   public:
    using Value = User;
    /// The caller's matrix.
    using Matrix = std::conditional_t<std::same_as<User, double>, CsrView, ComplexCsrView>;

    /// Only the root rank calls this; every other rank calls distributed_solver_loop(), or distributed_complex_solver_loop().
    /// @param workers  must outlive the solver   @param here  spaces of this rank's workers, all of one kind
    /// @param A        in host memory of the root rank; not kept   @param source  of A, named in messages: a file, or "the matrix"
    /// @throws InputError for options, from kind_of(A) and check(A), for a method that A is not for, for a diagonal entry of zero (but for
    ///   minres), for fewer rows than workers, and where memory is short; PreconditionError
    DistributedSolverOf(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const Matrix& A,
                        const DistributedOptions& options = {}, const std::string& source = "the matrix");
    /// Ends the loops of the other ranks.
    ~DistributedSolverOf();
    DistributedSolverOf(const DistributedSolverOf&) = delete;
    DistributedSolverOf& operator=(const DistributedSolverOf&) = delete;

    /// Solves A x = b from the first guess in x.
    /// @param b     [n] host memory   @param x  [n] host memory: first guess in, solution out
    /// @param stop  may be empty; a stop takes effect within eight iterations
    /// @throws LogicError: another size than A's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const User> b, View<User> x, const StopFunction& stop = {});

    /// The `count` smallest eigenvalues of A with their eigenvectors, by LOBPCG with the solver's preconditioner, tolerance (of
    /// ||A x - value x|| over the largest wanted value) and limit of iterations; the coarse system is applied in its symmetric form.
    ///                                                                                                                  [Knyazev 2001]
    /// @param count  at most a fifth of the rows   @param stop  as of solve(), with the largest residual over the largest wanted value
    /// @return as eigenpairs() of one worker   @throws InputError for a count out of range, a solver whose method is not cg, and where
    ///   memory is short
    Eigenpairs eigenpairs(int count, const StopFunction& stop = {})
        requires std::same_as<User, double>;

    /// Results and costs of the set-up: `bytes` of all workers together, `bytes_per_iteration` is 0 (not counted).
    const SetupFacts& setup() const;

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

using DistributedSolver = DistributedSolverOf<double>;
using DistributedComplexSolver = DistributedSolverOf<std::complex<double>>;

/// Executes the commands of the root rank until its DistributedSolver is destroyed or could not be made; for all ranks but the root rank.
void distributed_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here);
/// Does the same for a DistributedComplexSolver.
void distributed_complex_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here);

}  // namespace kasane::sparse
