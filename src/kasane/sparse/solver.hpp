// The solver of sparse symmetric positive definite systems: conjugate gradients with a preconditioner that is parallel by colouring.
// Invariants: the whole iteration runs on the solver's device without the host; results do not depend on threads or device beyond
// rounding; a solve that does not converge returns its log (see krylov::Outcome) and never throws for numerical reasons.
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

enum class Precondition { none, jacobi, ssor, ic0 };
/// How new row numbers run: colour by colour over all threads (fig. 3 of HOHNI17), or thread by thread and then colour (fig. 4).
enum class Numbering { automatic, coalesced, sequential };
/// What one iteration looks like; all give the same iterates up to rounding where they apply.
enum class Iteration {
    automatic,
    plain,      ///< forward, backward, product: any preconditioner
    eisenstat,  ///< the product comes out of the two substitutions [Eisenstat 1981]: the factor's triangles must be A's
    reduced,    ///< as eisenstat with two colours, the first colour eliminated exactly: vectors of half the length
};
/// How an iteration runs on a CUDA device without the host.
enum class Launch { automatic, cooperative, graph };

enum class FormatKind { automatic, csr, ell, sliced_ell, sell };
/// "auto", "csr", "ell", "sliced-ell", "sell:C:SIGMA" ("sell:C" means SIGMA 1).
struct Format {
    FormatKind kind = FormatKind::automatic;
    int chunk = 0;  ///< C of sell
    int sigma = 1;  ///< rows among which sell sorts by length
    static Format parse(const std::string& text);
    std::string text() const;
    bool operator==(const Format&) const = default;
};

/// "none", "jacobi", "ssor", "ic0" and the like: @throws InputError with what is allowed and the nearest name
Precondition parse_precondition(const std::string& text);
Numbering parse_numbering(const std::string& text);
Iteration parse_iteration(const std::string& text);
Launch parse_launch(const std::string& text);
std::string name(Precondition);
std::string name(Numbering);
std::string name(Iteration);
std::string name(Launch);

/// How the options that are left to auto are decided.
enum class Tuning {
    automatic,  ///< by rule, or as stored; candidates are timed for at most a tenth of the time that the last solve of such a matrix took
    full,       ///< all candidates are timed before the first solve
    off,        ///< by rule; nothing is timed, read or stored
};

/// The smallest tolerance that a user may ask for: rounding alone leaves a residual of some units of the last place of b.
inline constexpr double least_rtol = 1e-15;

struct SolverOptions {
    Ordering ordering;
    Numbering numbering = Numbering::automatic;
    Format format;
    Precondition precondition = Precondition::ic0;
    double ssor_omega = 1;       ///< relaxation of ssor, in (0, 2)
    bool single_factor = false;  ///< the factor's triangles in float under the double iteration (plain iteration only)
    Iteration iteration = Iteration::automatic;
    Launch launch = Launch::automatic;
    double rtol = 1e-8;  ///< of ||b - A x|| / ||b||, see least_rtol
    int iteration_limit = 10000;
    Tuning tune = Tuning::automatic;
    /// Where choices, trials and times of solves are kept between programs; empty: not kept, and Tuning::automatic chooses by rule.
    std::filesystem::path tuning_file;
    ProgressFunction tune_progress = {};  ///< of the trials
    /// Called between parts of the set-up and between timed trials; may throw to end the set-up.
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
    index_t rows = 0, nonzeros = 0, padded_rows = 0, stored_entries = 0;
    std::string device, ordering, numbering, format, precondition, iteration, launch;
    int colors = 0;
    std::vector<index_t> color_sizes;
    double shift = 0;                ///< of the diagonal, relative, that kept the factorisation positive; 0: none was needed
    bool singular = false;           ///< constants are the null space: solved for the mean-free solution
    bool own_factor = false;         ///< the factor has values of its own (the graph has triangles); else A's triangles are the factor
    std::uint64_t bytes = 0;         ///< of the arrays that the solver holds
    std::uint64_t peak_bytes = 0;    ///< most that solver and set-up held at one time, A not counted
    double bytes_per_iteration = 0;  ///< that an iteration must move: every array once per phase
    int barriers_per_iteration = 0;
    std::vector<std::pair<std::string, double>> seconds;  ///< of the parts of the set-up: check, order, layout, factor, convert, tune
    double total_seconds = 0;
    Decision decision;
    std::vector<std::string> notes;  ///< one sentence each: colours raised, diagonal shifted, duplicates summed, null space
};

struct ResidualPoint {
    int iteration = 0;
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
    /// @param A  in host memory; not kept, and not needed after the constructor
    /// @throws InputError from check(A) and where memory is short, with both numbers; PreconditionError
    Solver(AnySpace on, const CsrView& A, const SolverOptions& options = {});
#if defined(KASANE_CUDA)
    /// The same for A in the memory of that device: check, ordering, factorisation and conversion run there. Only cm-rcm and automatic
    /// orderings are built on the device; others pass through the host.
    static Solver on_device(Cuda on, const CsrView& A, const SolverOptions& options = {});
    /// b and x [n] in device memory.
    SolveLog solve_on_device(View<const double> b, View<double> x, const StopFunction& stop = {});
#endif
    ~Solver();
    Solver(Solver&&) noexcept;
    Solver& operator=(Solver&&) noexcept;

    /// @param b [n] host   @param x [n] host: first guess in, solution out
    /// @throws InputError: another size than A's, NaN or infinity in b or x
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {}, Start start = Start::anew);
    /// Continues the last solve, which stop() ended, with its search direction: up to rounding, the iterations are those of a solve that
    /// was not stopped. @param b  the same   @param x  as that solve left it
    SolveLog go_on(View<const double> b, View<double> x, const StopFunction& stop = {}) { return solve(b, x, stop, Start::where_stopped); }
    /// From zero.
    std::vector<double> solve(const std::vector<double>& b, SolveLog* log = nullptr);

    const SetupFacts& setup() const;
    const SolverOptions& options() const;
    /// Changes what does not need a new set-up.
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    explicit Solver(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

/// Bytes that a Solver of these options will take at most, and its set-up on top, for a matrix of that many rows and entries.
std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const SolverOptions& options = {});

}  // namespace kasane::sparse
