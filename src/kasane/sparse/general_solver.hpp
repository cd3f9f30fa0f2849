// Solves sparse systems whose matrix is nonsymmetric or indefinite: BiCGStab, restarted GMRES and MINRES.
// Invariants: a log that says converged has a true residual ||b - A x|| / ||b||, computed from x in double precision in the units of A,
// within rtol; results do not depend on threads, nor on the device beyond rounding; a solve that does not converge returns its log and
// never throws for a numerical reason.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/solver.hpp>

#include <memory>
#include <vector>

namespace kasane::sparse {

/// Solves A x = b for one A, nonsymmetric or indefinite, and any number of right-hand sides.
class GeneralSolver {
   public:
    /// Checks, scales, orders and factorises A on a space.
    /// @param on       the CPU or a CUDA device
    /// @param A        in host memory; not kept, and not needed after the constructor
    /// @param options  options that are automatic are decided here
    /// @throws InputError from kind_of(A), for minres and a nonsymmetric A, for options that do not apply, and where memory is short;
    ///   PreconditionError where ilu0 was requested and its factors are unstable
    GeneralSolver(const AnySpace& on, const CsrView& A, const GeneralOptions& options = {});
    /// The same without another check of A. @param kind  of A, from kind_of(A)
    GeneralSolver(const AnySpace& on, const CsrView& A, const MatrixKind& kind, const GeneralOptions& options);
    /// Frees all memory.
    ~GeneralSolver();
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    GeneralSolver(GeneralSolver&&) noexcept;
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    GeneralSolver& operator=(GeneralSolver&&) noexcept;

    /// Solves A x = b from the first guess in x.
    /// If the method is automatic and one fails (breakdown, stagnation, half of the iterations used), the next one continues from the best
    /// x so far, and a note of the log states this. Later solves begin with the method that converged last.
    /// @param b     [n] host memory   @param x  [n] host memory: first guess in, solution out; the best x where it did not converge
    /// @param stop  may be empty
    /// @throws LogicError: another size than A's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {});
    /// Returns the solution from a first guess of zero. @param b  [n]   @param log  filled with the log; may be null   @throws as the other
    /// solve()
    std::vector<double> solve(const std::vector<double>& b, SolveLog* log = nullptr);

    /// Replaces A's values: order and arrangement stay, A is checked, scaled and factorised again.
    /// @param A  in host memory, with the pattern of the constructor's A (offsets and columns equal); not kept
    /// @throws InputError from kind_of(A) and for minres and a nonsymmetric A, and LogicError: another pattern: the old values stay.
    ///   PreconditionError: solve() throws LogicError until an update succeeds.
    void update(const CsrView& A);

    /// Results and costs of the set-up: `iteration` is the (first) method, `bytes_per_iteration` is 0 (not counted), `peak_bytes` an
    /// estimate.
    const SetupFacts& setup() const;
    /// Properties of A that decide the method.
    const MatrixKind& kind() const;
    /// Changes options that need no new set-up. @param rtol  in (0, 1)   @param iteration_limit  at least 1   @throws InputError
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    void set_up(const AnySpace& on, const CsrView& A, MatrixKind kind, const GeneralOptions& options, double check_seconds);
    std::unique_ptr<Parts> parts_;
};

/// Largest number of bytes that a GeneralSolver with these options and its set-up allocate.
std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const GeneralOptions& options);

}  // namespace kasane::sparse
