// Solves sparse systems of complex numbers: conjugate gradients where the matrix is Hermitian, BiCGStab and restarted GMRES otherwise.
// Invariants: as GeneralSolver: a log that says converged has a true residual ||b - A x|| / ||b|| within rtol; results do not depend on
// threads, nor on the device beyond rounding; a solve that does not converge returns its log and never throws for a numerical reason.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/solver.hpp>

#include <complex>
#include <memory>
#include <vector>

namespace kasane::sparse {

/// Solves A x = b for one complex A and any number of right-hand sides.
class ComplexSolver {
   public:
    /// A number of matrix and vectors.
    using Value = std::complex<double>;

    /// Checks, scales, orders and factorises A on a space.
    /// @param on       the CPU or a CUDA device
    /// @param A        in host memory; not kept, and not needed after the constructor
    /// @param options  automatic method: cg where A is Hermitian and may be positive definite, else bicgstab; gmres follows where the first
    ///   one fails; automatic preconditioner: ilu0, and jacobi where its factors are unstable
    /// @throws InputError from kind_of(A), for options that do not apply, and where memory is short; PreconditionError where ilu0 was
    ///   requested and its factors are unstable
    ComplexSolver(const AnySpace& on, const ComplexCsrView& A, const GeneralOptions& options = {});
    /// Frees all memory.
    ~ComplexSolver();
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    ComplexSolver(ComplexSolver&&) noexcept;
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    ComplexSolver& operator=(ComplexSolver&&) noexcept;

    /// Solves A x = b from the first guess in x, as GeneralSolver::solve().
    /// @param b     [n] host memory   @param x  [n] host memory: first guess in, solution out; the best x where it did not converge
    /// @param stop  may be empty
    /// @throws LogicError: another size than A's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const Value> b, View<Value> x, const StopFunction& stop = {});
    /// Returns the solution from a first guess of zero. @param b  [n]   @param log  filled with the log; may be null   @throws as the other
    /// solve()
    std::vector<Value> solve(const std::vector<Value>& b, SolveLog* log = nullptr);

    /// Replaces A's values, as GeneralSolver::update(). @param A  in host memory, with the pattern of the constructor's A; not kept
    void update(const ComplexCsrView& A);

    /// Results and costs of the set-up, as GeneralSolver::setup().
    const SetupFacts& setup() const;
    /// Properties of A that decide the method.
    const ComplexKind& kind() const;
    /// Changes options that need no new set-up. @param rtol  in (0, 1)   @param iteration_limit  at least 1   @throws InputError
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Largest number of bytes that a ComplexSolver with these options and its set-up allocate.
std::uint64_t complex_memory_estimate(index_t rows, index_t nonzeros, const GeneralOptions& options);

}  // namespace kasane::sparse
