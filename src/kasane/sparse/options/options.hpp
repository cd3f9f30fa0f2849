// Options of a solver, their names, and the record of how open ones were decided.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/sparse/options/multigrid_options.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::sparse {

/// The preconditioner M.
enum class Precondition {
    none,       ///< M = 1
    jacobi,     ///< the diagonal of A
    ssor,       ///< symmetric successive over-relaxation                                                            [Saad 2003, 10.2]
    ic0,        ///< incomplete Cholesky factorisation with the pattern of A                                        [Saad 2003, 10.3]
    automatic,  ///< by rule: ic0 or multigrid; on a CPU also ssor or jacobi
    ict,        ///< incomplete Cholesky factorisation with a threshold and a limit of fill-in for each row   [Saad 2003, 10.8]
    ick,        ///< incomplete Cholesky factorisation with levels of fill, IC(k)                           [Saad 2003, 10.3.3]
    multigrid,  ///< a cycle of smoothed aggregation in single precision                               [Vanek, Mandel & Brezina 1996]
};
/// How new row numbers are assigned.
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

/// "auto", "none", "jacobi", "ssor", "ic0", "ict", "ick" or "multigrid". @throws InputError with what is allowed and the nearest name
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

/// How options that are automatic are decided.
enum class Tuning {
    automatic,  ///< by rule, or as stored; candidates are timed for at most a tenth of the time that the last solve of such a matrix took
    full,       ///< all candidates are timed before the first solve
    off,        ///< by rule; nothing is timed, read or stored
};

/// The smallest rtol that the command accepts: rounding alone leaves a residual of some units in the last place of b.
inline constexpr double least_rtol = 1e-15;

/// Near-null vectors for multigrid: vectors that A maps to almost nothing, which the coarse levels must represent.
struct NearNullOptions {
    /// [rows][count], the numbers of one row together: rigid motions for elasticity. Empty: constants, one for each row of a node.
    std::vector<double> vectors;
    int count = 1;          ///< of the vectors; not used where there are none
    int rows_per_node = 1;  ///< neighbouring rows of one node, such as the displacements of elasticity, which stay together
};

/// Options of a Solver. It decides those that are `automatic`; Solver::setup() has the choice and the reason.
struct SolverOptions {
    Ordering ordering;                              ///< order of elimination and its colours
    Numbering numbering = Numbering::automatic;     ///< how rows are numbered
    Format format;                                  ///< how triangles are stored
    Precondition precondition = Precondition::ic0;  ///< the preconditioner
    double ssor_omega = 1;                          ///< relaxation of ssor, in (0, 2)
    NearNullOptions near_null;                      ///< of multigrid
    MultigridOptions multigrid;                     ///< smoother and cycle of multigrid
    double drop_tolerance = 1e-3;                   ///< of ict: entries below this part of their row are dropped; from 0 to below 1
    int fill = 10;                                  ///< of ict: entries that a row of L may have beyond those of A
    int level = 1;                                  ///< k of ick: 0 to 9
    int block = 1;                               ///< rows of the dense blocks of A, 2 to 6, for ic0, jacobi and none; 0: the size that fits
    bool single_factor = false;                  ///< the factor's triangles in float under the double iteration (plain alone)
    Iteration iteration = Iteration::automatic;  ///< the form of the iteration
    Launch launch = Launch::automatic;           ///< CUDA devices alone
    double rtol = 1e-8;                          ///< tolerance of ||b - A x|| / ||b||; as krylov::Options::rtol
    int iteration_limit = 10000;                 ///< as krylov::Options::iteration_limit
    Tuning tune = Tuning::automatic;             ///< how open options are decided
    /// File with choices, trials and times of solves of earlier programs; empty: none, and Tuning::automatic decides by rule.
    std::filesystem::path tuning_file;
    ProgressFunction tune_progress = {};  ///< called with the progress of the trials; may be empty
    /// Called between parts of the set-up and between timed trials; may throw to end the set-up; may be empty.
    std::function<void()> check_stop = {};
};

/// How the open options were decided, and why.
struct Decision {
    std::string by;      ///< "options" (nothing was open), "rule", "stored", "trials"
    std::string reason;  ///< one clause
    int trials = 0;      ///< number of trials in this set-up
    double seconds = 0;  ///< time of these trials [s]
};

/// The preconditioner cannot be built for this matrix.
class PreconditionError : public ComputationError {
    using ComputationError::ComputationError;
};

}  // namespace kasane::sparse
