// The log of a solve, the function that may stop it, and where it begins.
#pragma once

#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>

#include <vector>

namespace kasane::sparse {

/// One iteration in the history of a solve.
struct ResidualPoint {
    int iteration = 0;          ///< its number; 0: before the first one
    double preconditioned = 0;  ///< sqrt(r.M^-1 r), relative to its first value; NaN where the method does not store it
    double relative = 0;        ///< ||r|| / ||b||; NaN in iterations where it was not computed
};

/// The log of a solve. `residuals` stays empty: `history` has them.
struct SolveLog : krylov::SolveLog {
    double iteration_seconds = 0;  ///< of the iterations alone; `seconds` includes copies between host and device
    double mean_removed = 0;       ///< mean that was subtracted from b, where the system is singular
    double outside_range = 0;      ///< fraction of ||b|| outside the range of a singular A; where it is above rtol, x = 0; otherwise 0
    std::vector<ResidualPoint> history;  ///< one point per iteration, the first before iteration 1
};

/// Called with the iterations so far and the relative residual: on the CPU in every iteration, on a device about twice a second. A return
/// value of true ends the solve with Outcome::stopped.
using StopFunction = krylov::StopFunction;

/// Where a solve begins.
enum class Start {
    anew,           ///< with the residual of the first guess
    where_stopped,  ///< with the search direction of the last solve, which the stop function ended, and the x that it left
};

}  // namespace kasane::sparse
