// How a solve ended, for every solver of kasane.
#pragma once

#include <string_view>

namespace kasane::krylov {

/// How a solve ended. No solver throws for a numerical reason: the outcome is in the log.
enum class Outcome {
    converged,                    ///< the true residual b - A x is within the tolerance (conjugate_gradients: within a few tolerances)
    iteration_limit,              ///< the limit of iterations was reached first
    stagnated,                    ///< the recurrence converged or continues, but the true residual does not follow: rounding, or singular A
    breakdown,                    ///< a denominator vanished, or the residual grew or stagnated, and new starts did not help
    diverged,                     ///< every method that was tried broke down
    operator_not_positive,        ///< p.Ap <= 0: A is indefinite or singular (conjugate gradients)
    preconditioner_not_positive,  ///< r.M^-1 r <= 0 for r != 0 (conjugate gradients)
    not_finite,                   ///< NaN or infinity in b, x, A or the preconditioner
    stopped,                      ///< the caller's stop function returned true
};

/// The outcome in words, as in JSON files and messages: "converged", "iteration limit", ...
constexpr std::string_view name(Outcome outcome) {
    switch (outcome) {
        case Outcome::converged: return "converged";
        case Outcome::iteration_limit: return "iteration limit";
        case Outcome::stagnated: return "stagnated";
        case Outcome::breakdown: return "breakdown";
        case Outcome::diverged: return "diverged";
        case Outcome::operator_not_positive: return "operator not positive definite";
        case Outcome::preconditioner_not_positive: return "preconditioner not positive definite";
        case Outcome::not_finite: return "not finite";
        case Outcome::stopped: return "stopped";
    }
    return "";
}

}  // namespace kasane::krylov
