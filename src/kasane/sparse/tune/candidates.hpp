// Options that are worth timing for a matrix on a device, and the choice of the fastest to the solution among those timed.
// Invariants: a candidate keeps every option that was given; the first one is the choice of the rules without timing.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/options/options.hpp>

#include <functional>
#include <limits>
#include <vector>

namespace kasane::sparse {

/// Properties of a graph under different orderings.
struct GraphFacts {
    int fewest_colors = 2;       ///< colours that cm-rcm:2 needs
    index_t levels = 0;          ///< of rcm; 0: unknown
    index_t natural_levels = 0;  ///< 0: unknown
};
GraphFacts graph_facts(const CsrView& A);

/// Progress of a trial's conjugate gradients after some iterations from zero, for a right-hand side of white noise.
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
    bool disturbed = false;              ///< other programs used the processors during the trial
};

/// Calls run(k) for k = 8, 11, 16, 23 and 32 iterations from zero. If ||r|| falls by 1000 in 32 of them, it also calls run() for more, at
/// most 256, until the solve has converged: convergence is near then, and its iterations are counted instead of estimated.
std::vector<TuneProgress> measured_progress(const std::function<TuneProgress(int iterations)>& run, double rtol);

/// The format that the rules choose for a matrix in that many colours.
Format usual_format(const MatrixFacts& matrix, bool cuda, index_t colors);

/// Returns at most five orderings, each with the numbering, format and launch of the rules; one where the ordering is given.
std::vector<SolverOptions> candidates(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph);

/// Returns at most seven variations: the same ordering in other formats, numberings and launches, without `chosen`.
std::vector<SolverOptions> variations(const SolverOptions& chosen, const SolverOptions& asked, bool cuda, const MatrixFacts& matrix);

/// Iterations to the solution of each trial, in arbitrary units: only ratios are meaningful. NaN where a trial failed.
std::vector<double> estimated_iterations(const std::vector<TuneTrial>& trials);

/// Returns the options with the smallest product of seconds per iteration and iterations, the first of equal ones. @param trials at least
/// one
SolverOptions best_of(const std::vector<TuneTrial>& trials);

/// Times these options; with `convergence`, progress is measured, too. An Error that it throws excludes the candidate.
using TrialFunction = std::function<TuneTrial(const SolverOptions&, bool convergence)>;

/// Limits of one call of tune().
struct TuneLimits {
    double seconds = std::numeric_limits<double>::infinity();  ///< limit of the cost of the trials; a finite
                                                               ///< limit lets a disturbed trial end them, too
    double trial_seconds = 0;                                  ///< expected cost of a trial with convergence
    double variation_seconds = 0;                              ///< expected cost of a trial without
    std::vector<TuneTrial> known;                              ///< trials of earlier calls: they are not run again
    ProgressFunction progress;
};

struct TuneResult {
    SolverOptions options;          ///< where incomplete, those of the first candidate
    std::vector<TuneTrial> trials;  ///< in their order, with known ones; without disturbed ones where the seconds were limited
    int ran = 0;                    ///< trials that ran now
    double cost = 0;                ///< [s] of these
    bool complete = true;
    bool disturbed = false;  ///< one of the trials of this call was disturbed
};

/// The first candidate's ordering, or one that is faster by more than the error of estimates; then its fastest variation. A trial runs only
/// where its expected cost fits into the rest of the limit.
/// @throws the error of the last trial, where all failed
TuneResult tune(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph, const TrialFunction& trial,
                const TuneLimits& limits = {});

}  // namespace kasane::sparse
