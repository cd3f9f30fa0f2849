// The log of a solve, shared by every solver of kasane.
#pragma once

#include <kasane/krylov/outcome.hpp>

#include <string>
#include <vector>

namespace kasane::krylov {

/// Course and outcome of a solve. sparse::SolveLog and lattice::SolveLog add their own numbers.
struct SolveLog {
    Outcome end = Outcome::iteration_limit;  ///< how it ended
    int iterations = 0;                      ///< of the method itself
    int inner_iterations = 0;                ///< of all inner solves; 0 where there is no inner solver
    int updates = 0;                         ///< how often b - A x was computed in the outer precision (0: not counted)
    int restarts = 0;                        ///< new starts from the true residual
    double residual = 0;                     ///< of the recurrence at the end, relative to ||b||; 0 where the method does not report it
    double true_residual = 0;                ///< ||b - A x|| / ||b|| computed from x at the end
    double seconds = 0;                      ///< of the solve; 0 where the method has no clock
    std::vector<double> residuals;   ///< relative residual before iteration 0, 1, ...; inner iterations are among them; the last is final
    std::vector<std::string> notes;  ///< restarts, changes of method or precision, and their reasons

    /// Whether the solve converged, so that the solution can be used.
    bool converged() const { return end == Outcome::converged; }
};

}  // namespace kasane::krylov
