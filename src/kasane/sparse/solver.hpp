// Solves sparse symmetric positive definite systems: conjugate gradients with a preconditioner that is made parallel by colouring.
// Invariants: the whole iteration runs on the solver's device without the host; results do not depend on threads or device beyond
// rounding; a solve that does not converge returns its log (krylov::Outcome) and never throws for a numerical reason.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>
#include <kasane/sparse/csr.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// The preconditioner M.
enum class Precondition {
    none,    ///< M = 1
    jacobi,  ///< the diagonal of A
    ssor,    ///< symmetric successive over-relaxation                                                               [Saad 2003, 10.2]
    ic0,     ///< incomplete Cholesky factorisation with the pattern of A                                           [Saad 2003, 10.3]
};
/// How new row numbers run.
enum class Numbering {
    automatic,   ///< chosen by rule or by timing
    coalesced,   ///< colour by colour over all threads (HOHNI17, fig. 3)
    sequential,  ///< thread by thread, then colour by colour (HOHNI17, fig. 4)
};
/// The form of an iteration; all give the same iterates up to rounding where they apply.
enum class Iteration {
    automatic,  ///< the cheapest that applies
    plain,      ///< forward, backward, product: any preconditioner
    eisenstat,  ///< the product comes out of the two substitutions [Eisenstat 1981]: the factor's triangles must be A's
    reduced,    ///< as eisenstat with two colours, the first colour eliminated exactly: vectors of half the length
};
/// How an iteration runs on a CUDA device without the host.
enum class Launch {
    automatic,    ///< chosen by rule or by timing
    cooperative,  ///< one kernel for the whole solve
    graph,        ///< a graph of kernels that repeats itself
};

/// How the entries of a matrix are stored.
enum class FormatKind {
    automatic,   ///< chosen by rule or by timing
    csr,         ///< compressed rows
    ell,         ///< ELLPACK: as many entries in every row of a colour
    sliced_ell,  ///< ELLPACK for each part of a colour
    sell,        ///< SELL-C-sigma                                                     [Kreutzer, Hager, Wellein, Fehske & Bishop 2014]
};
/// A storage format with its parameters: "auto", "csr", "ell", "sliced-ell", "sell:C:SIGMA" ("sell:C" means SIGMA 1).
struct Format {
    FormatKind kind = FormatKind::automatic;  ///< without parameters
    int chunk = 0;                            ///< C of sell: rows of a chunk
    int sigma = 1;                            ///< SIGMA of sell: rows among which they are sorted by length
    /// The format of that name. @throws InputError with what is allowed and the nearest name
    static Format parse(const std::string& text);
    /// Its name, as parse() reads it.
    std::string text() const;
    /// Whether all members are equal.
    bool operator==(const Format&) const = default;
};

/// "none", "jacobi", "ssor" or "ic0". @throws InputError with what is allowed and the nearest name
Precondition parse_precondition(const std::string& text);
/// "auto", "coalesced" or "sequential". @throws InputError as parse_precondition
Numbering parse_numbering(const std::string& text);
/// "auto", "plain", "eisenstat" or "reduced". @throws InputError as parse_precondition
Iteration parse_iteration(const std::string& text);
/// "auto", "cooperative" or "graph". @throws InputError as parse_precondition
Launch parse_launch(const std::string& text);
/// As parse_precondition() reads it.
std::string name(Precondition);
/// As parse_numbering() reads it.
std::string name(Numbering);
/// As parse_iteration() reads it.
std::string name(Iteration);
/// As parse_launch() reads it.
std::string name(Launch);

/// How the options that are left to auto are decided.
enum class Tuning {
    automatic,  ///< by rule, or as stored; candidates are timed for at most a tenth of the time that the last solve of such a matrix took
    full,       ///< all candidates are timed before the first solve
    off,        ///< by rule; nothing is timed, read or stored
};

/// The smallest rtol that the command accepts: rounding alone leaves a residual of some units of the last place of b.
inline constexpr double least_rtol = 1e-15;

/// What a Solver may be asked for. Options that are `automatic` are decided by the solver; Solver::setup() has what was chosen and why.
struct SolverOptions {
    Ordering ordering;                              ///< order of elimination and its colours
    Numbering numbering = Numbering::automatic;     ///< how rows are numbered
    Format format;                                  ///< how triangles are stored
    Precondition precondition = Precondition::ic0;  ///< the preconditioner
    double ssor_omega = 1;                          ///< relaxation of ssor, in (0, 2)
    bool single_factor = false;                     ///< the factor's triangles in float under the double iteration (plain alone)
    Iteration iteration = Iteration::automatic;     ///< the form of the iteration
    Launch launch = Launch::automatic;              ///< CUDA devices alone
    double rtol = 1e-8;                             ///< tolerance of ||b - A x|| / ||b||; as krylov::Options::rtol
    int iteration_limit = 10000;                    ///< as krylov::Options::iteration_limit
    Tuning tune = Tuning::automatic;                ///< how open options are decided
    /// Where choices, trials and times of solves are kept between programs; empty: not kept, and Tuning::automatic chooses by rule.
    std::filesystem::path tuning_file;
    ProgressFunction tune_progress = {};  ///< called with the progress of the trials; may be empty
    /// Called between parts of the set-up and between timed trials; may throw to end the set-up; may be empty.
    std::function<void()> check_stop = {};
};

/// How the open options were decided, and why.
struct Decision {
    std::string by;      ///< "options" (nothing was open), "rule", "stored", "trials"
    std::string reason;  ///< one clause
    int trials = 0;      ///< that were run now
    double seconds = 0;  ///< that they took
};

/// What the set-up chose and what it cost.
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
    double shift = 0;                  ///< of the diagonal, relative, that kept the factorisation positive; 0: none was needed
    bool singular = false;             ///< constants are the null space: solved for the mean-free solution
    bool own_factor = false;           ///< the factor has values of its own (the graph has triangles); otherwise A's triangles
    std::uint64_t bytes = 0;           ///< of the arrays that the solver holds
    std::uint64_t peak_bytes = 0;      ///< most that solver and set-up held at one time, A not counted
    double bytes_per_iteration = 0;    ///< that an iteration must move: every array once per phase
    int barriers_per_iteration = 0;    ///< where all threads (or blocks) wait for each other
    std::vector<std::pair<std::string, double>> seconds;  ///< of the parts of the set-up: check, order, layout, factor, convert, tune
    double total_seconds = 0;                             ///< of the set-up
    Decision decision;                                    ///< how open options were decided
    std::vector<std::string> notes;  ///< one sentence each: colours raised, diagonal shifted, duplicates summed, null space
};

/// One iteration in the history of a solve.
struct ResidualPoint {
    int iteration = 0;          ///< its number; 0: before the first
    double preconditioned = 0;  ///< sqrt(r.M^-1 r), relative to its first value
    double relative = 0;        ///< ||r|| / ||b||; NaN in iterations where it was not formed
};

/// What a solve did. `residuals` stays empty: `history` has them.
struct SolveLog : krylov::SolveLog {
    double iteration_seconds = 0;  ///< of the iterations alone; `seconds` includes copies between host and device
    double mean_removed = 0;       ///< mean that was subtracted from b, where the system is singular
    double outside_range = 0;      ///< share of ||b|| that no x can give, because A is singular; above rtol, and then x = 0; otherwise 0
    std::vector<ResidualPoint> history;  ///< one point per iteration, the first before iteration 1
};

/// Called with the iterations so far and the relative residual: on the CPU in every iteration, on a device about twice a second. A return
/// value of true ends the solve with Outcome::stopped.
using StopFunction = krylov::StopFunction;

/// The preconditioner cannot be built for this matrix.
class PreconditionError : public ComputationError {
    using ComputationError::ComputationError;
};

/// Where a solve begins.
enum class Start {
    anew,           ///< with the residual of the first guess
    where_stopped,  ///< with the search direction of the last solve, which the stop function ended, and the x that it left
};

/// Solves A x = b for one A and any number of right-hand sides.
class Solver {
   public:
    /// Checks, orders and factorises A on a space.
    /// @param on       the CPU or a CUDA device
    /// @param A        in host memory; not kept, and not needed after the constructor
    /// @param options  what is left to the solver and what is not
    /// @throws InputError from check(A), for options that do not apply, and where memory is short; PreconditionError
    Solver(AnySpace on, const CsrView& A, const SolverOptions& options = {});
#if defined(KASANE_CUDA)
    /// The same for A in the memory of that device: check, ordering, factorisation and conversion run there. Only cm-rcm and automatic
    /// orderings are built on the device; a matrix with another ordering is copied to the host first.
    static Solver on_device(Cuda on, const CsrView& A, const SolverOptions& options = {});
    /// As solve(), with b and x [n] in the memory of the device. @throws LogicError where the solver is on the CPU, or for another size;
    /// InputError: NaN or infinity in b or x
    SolveLog solve_on_device(View<const double> b, View<double> x, const StopFunction& stop = {});
#endif
    /// Frees all memory.
    ~Solver();
    /// Takes the other solver's arrays.
    Solver(Solver&&) noexcept;
    /// Takes the other solver's arrays.
    Solver& operator=(Solver&&) noexcept;

    /// Solves A x = b from the first guess in x.
    /// @param b      [n] host memory
    /// @param x      [n] host memory: first guess in, solution out
    /// @param stop   may be empty
    /// @param start  where_stopped: as go_on()
    /// @throws LogicError: another size than A's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {}, Start start = Start::anew);
    /// Continues the last solve, which stop() ended, with its search direction: up to rounding, the iterations are those of a solve that
    /// was not stopped. @param b  the same   @param x  as that solve left it   @param stop  may be empty
    SolveLog go_on(View<const double> b, View<double> x, const StopFunction& stop = {}) { return solve(b, x, stop, Start::where_stopped); }
    /// The solution from a first guess of zero. @param b  [n]   @param log  what the solve did; may be null   @throws as the other solve()
    std::vector<double> solve(const std::vector<double>& b, SolveLog* log = nullptr);

    /// What the set-up chose and what it cost.
    const SetupFacts& setup() const;
    /// The options as they were given.
    const SolverOptions& options() const;
    /// Changes what does not need a new set-up. @param rtol  in (0, 1)   @param iteration_limit  at least 1   @throws InputError
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    explicit Solver(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

/// Bytes that a Solver of these options will take at most, and its set-up on top, for a matrix of that many rows and entries.
std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const SolverOptions& options = {});

}  // namespace kasane::sparse
