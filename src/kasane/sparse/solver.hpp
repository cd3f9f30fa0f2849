// Solves sparse symmetric positive definite systems: conjugate gradients with a preconditioner that is made parallel by colouring, or with
// multigrid.
// Invariants: the whole iteration runs on the solver's device without the host (with multigrid the host launches it); results do not depend
// on threads or device beyond rounding; a solve that does not converge returns its log (krylov::Outcome) and never throws for a numerical
// reason.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// Results and costs of the set-up.
struct SetupFacts {
    index_t rows = 0;                  ///< of A
    index_t nonzeros = 0;              ///< of A, duplicates summed
    index_t padded_rows = 0;           ///< of the layout, padding included
    index_t stored_entries = 0;        ///< of all triangles, padding included
    std::string device;                ///< its name
    std::string ordering;              ///< as Ordering::text()
    std::string numbering;             ///< as name()
    std::string format;                ///< as Format::text()
    std::string precondition;          ///< as name()
    std::string iteration;             ///< as name()
    std::string launch;                ///< as name(); empty on a CPU
    int colors = 0;                    ///< of the ordering
    std::vector<index_t> color_sizes;  ///< rows of each colour, padding not counted
    double shift = 0;                  ///< of the diagonal, relative, so that the factorisation stays positive; 0: none was needed
    bool singular = false;             ///< constants are the null space: solved for the mean-free solution
    bool own_factor = false;           ///< the factor has values of its own (the graph has triangles); otherwise A's triangles
    std::uint64_t bytes = 0;           ///< of the arrays that the solver holds
    std::uint64_t peak_bytes = 0;      ///< largest memory of solver and set-up at one time, A not counted
    double bytes_per_iteration = 0;    ///< that an iteration must move: every array once per phase
    int barriers_per_iteration = 0;    ///< where all threads (or blocks) wait for each other
    std::vector<std::pair<std::string, double>> seconds;  ///< of the parts of the set-up: check, order, layout, factor, convert, tune
    double total_seconds = 0;                             ///< of the set-up
    Decision decision;                                    ///< how open options were decided
    std::vector<std::string> notes;  ///< one sentence each: colours raised, diagonal shifted, duplicates summed, null space
};

/// Solves A x = b for one A and any number of right-hand sides.
class Solver {
   public:
    /// Checks, orders and factorises A on a space.
    /// @param on       the CPU or a CUDA device
    /// @param A        in host memory; not kept, and not needed after the constructor
    /// @param options  options that are automatic are decided here
    /// @throws InputError from check(A), for options that do not apply, and where memory is short; PreconditionError
    Solver(const AnySpace& on, const CsrView& A, const SolverOptions& options = {});
    /// Does the same without another check of A. @param kind  of A, from kind_of(A)   @throws LogicError where kind.positive is false
    Solver(const AnySpace& on, const CsrView& A, const MatrixKind& kind, const SolverOptions& options);
#if defined(KASANE_CUDA)
    /// Does the same for A in the memory of that device: check, ordering, factorisation and conversion run there. Only cm-rcm and automatic
    /// orderings are built on the device; a matrix with another ordering is copied to the host first.
    static Solver on_device(Cuda on, const CsrView& A, const SolverOptions& options = {});
    /// As solve(), with b and x [n] in the memory of the device. @throws LogicError where the solver is on the CPU, or for another size;
    /// InputError: NaN or infinity in b or x
    SolveLog solve_on_device(View<const double> b, View<double> x, const StopFunction& stop = {});
#endif
    /// Frees all memory.
    ~Solver();
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    Solver(Solver&&) noexcept;
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    Solver& operator=(Solver&&) noexcept;

    /// Solves A x = b from the first guess in x.
    /// @param b      [n] host memory
    /// @param x      [n] host memory: first guess in, solution out
    /// @param stop   may be empty
    /// @param start  where_stopped: as go_on()
    /// @throws LogicError: another size than A's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {}, Start start = Start::anew);
    /// Continues the last solve, which stop() ended, with its search direction: up to rounding, the iterations are those of an unbroken
    /// solve. With multigrid the solve starts again from x. @param b  the same   @param x  as that solve left it   @param stop  may be
    /// empty
    SolveLog go_on(View<const double> b, View<double> x, const StopFunction& stop = {}) { return solve(b, x, stop, Start::where_stopped); }
    /// Returns the solution from a first guess of zero. @param b  [n]   @param log  filled with the log; may be null   @throws as the other
    /// solve()
    std::vector<double> solve(const std::vector<double>& b, SolveLog* log = nullptr);

    /// Replaces A's values: order, layout and decided options stay, A is checked, split and factorised again.
    /// @param A  in host memory, with the pattern of the constructor's A (offsets and columns equal); not kept
    /// @throws InputError from check(A), and LogicError: another pattern, or the solver was made by on_device(): the old values stay.
    ///   Others as the constructor: solve() throws LogicError until an update succeeds.
    void update(const CsrView& A);

    /// Results and costs of the set-up; after update() those of the update.
    const SetupFacts& setup() const;
    /// The options as they were given.
    const SolverOptions& options() const;
    /// Changes options that need no new set-up. @param rtol  in (0, 1)   @param iteration_limit  at least 1   @throws InputError
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    explicit Solver(std::unique_ptr<Parts> parts);
    void set_up(const AnySpace& on, const CsrView& A, MatrixFacts matrix, const SolverOptions& options, double check_seconds);
    std::unique_ptr<Parts> parts_;
};

/// Largest number of bytes that a Solver with these options and its set-up allocate, for a matrix of that many rows and entries.
std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const SolverOptions& options = {});

}  // namespace kasane::sparse
