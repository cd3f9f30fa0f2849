// Which options are worth timing for a matrix on a device, and which of those timed is the fastest to the solution.
// Invariants: a candidate keeps every option that was not left open; the first one is what the rules would take without timing.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/options/options.hpp>

#include <functional>
#include <limits>
#include <vector>

namespace kasane::sparse {

/// What orderings make of a graph.
struct GraphFacts {
    int fewest_colors = 2;       ///< that cm-rcm:2 comes out with
    index_t levels = 0;          ///< of rcm; 0: not known
    index_t natural_levels = 0;  ///< 0: not known
};
GraphFacts graph_facts(const CsrView& A);

/// Where a trial's conjugate gradients stood after some iterations from zero, for a right-hand side of white noise.
struct TuneProgress {
    int iterations = 0;
    double energy = 0;    ///< b.x, in the user's units: ||x||_A^2 [Hestenes & Stiefel 1952]
    double residual = 1;  ///< ||b - A x|| / ||b||
};

struct TuneTrial {
    SolverOptions options;
    double seconds_per_iteration = 0;
    std::vector<TuneProgress> progress;  ///< see measured_progress(); empty: that of an earlier trial with the same ordering
    double cost = 0;                     ///< [s] of the whole trial with its set-up
    bool disturbed = false;              ///< other programs used the processors meanwhile
};

/// What run(k) says after k = 8, 11, 16, 23 and 32 iterations from zero; where ||r|| has fallen by 1000 in 32 of them, after more of them
/// until it has converged, at most 256: that is not far then, and counts instead of estimating.
std::vector<TuneProgress> measured_progress(const std::function<TuneProgress(int iterations)>& run, double rtol);

/// At most five orderings, each with the numbering, format and launch that the rules give it. One where the ordering is given.
std::vector<SolverOptions> candidates(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph);

/// The same ordering in other formats, numberings and launches, `chosen` not among them; at most seven.
std::vector<SolverOptions> variations(const SolverOptions& chosen, const SolverOptions& asked, bool cuda, const MatrixFacts& matrix);

/// Iterations to the solution of each trial, in units of their own: only ratios mean something. NaN where a trial failed.
std::vector<double> estimated_iterations(const std::vector<TuneTrial>& trials);

/// Least seconds per iteration times iterations; of equals the first. @param trials at least one
SolverOptions best_of(const std::vector<TuneTrial>& trials);

/// Times these options; `convergence` says whether progress is needed. Throwing an Error leaves the candidate out.
using TrialFunction = std::function<TuneTrial(const SolverOptions&, bool convergence)>;

/// Limits of one call of tune().
struct TuneLimits {
    double seconds =
        std::numeric_limits<double>::infinity();  ///< that the trials may cost; a finite limit also ends with a disturbed trial
    double trial_seconds = 0;                     ///< expected cost of a trial with convergence
    double variation_seconds = 0;                 ///< and of one without
    std::vector<TuneTrial> known;                 ///< of earlier calls: they are not run again
    ProgressFunction progress;
};

struct TuneResult {
    SolverOptions options;          ///< where incomplete, those of the first candidate
    std::vector<TuneTrial> trials;  ///< in their order, known ones among them, disturbed ones not where the seconds were limited
    int ran = 0;                    ///< trials that ran now
    double cost = 0;                ///< [s] of these
    bool complete = true;
    bool disturbed = false;  ///< one of those that ran
};

/// The first candidate's ordering, or the one that is faster by more than estimates err; then its fastest variation. A trial runs only
/// where its expected cost fits into what is left of the limit.
/// @throws what the last trial threw, where none worked
TuneResult tune(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph, const TrialFunction& trial,
                const TuneLimits& limits = {});

}  // namespace kasane::sparse
