// The scalars of an iteration and the decisions between phases, for host and device. Invariants: threads (or blocks) with the same sums
// take the same decisions; the functions do not access vectors.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/sparse/grid/sums.hpp>

#include <cmath>

namespace kasane::sparse {

/// Why the iterations end; go_on: they continue.
enum class Verdict : int { go_on, converged, limit, not_positive, preconditioner_not_positive, not_finite, stopped };

/// State of the recurrence.
struct Control {
    // given
    double tolerance2 = 0;  ///< (rtol ||b||)^2
    int limit = 0;          ///< iterations
    bool every = true;      ///< the true norm is computed in every iteration; else only where asks_norm() is true
    // state
    double alpha = 0, beta = 0;
    double rho = 0;        ///< at the start: that of the iteration whose direction is continued, or 0
    double norm2 = 0;      ///< ||r||^2 when it was last computed
    double norm2_rho = 0;  ///< rho at that time
    int since_norm = 0;
    int iteration = 0;
    Verdict verdict = Verdict::go_on;

    /// Whether ||r|| is computed now. rho is ||r||^2 in another norm, and their ratio drifts slowly, so rho predicts ||r|| within a factor:
    /// ||r|| is computed when the prediction comes near the tolerance, and at least every 16th time.
    KS_FN bool asks_norm(double new_rho) const {
        return every || iteration == 0 || since_norm >= 15 || new_rho * norm2 <= 2 * tolerance2 * norm2_rho;
    }
    /// Takes rho and ||r||^2 (negative: not computed) after update().
    KS_FN void updated(double new_rho, double new_norm2) {
        const double before = rho;
        rho = new_rho;
        ++since_norm;
        if (new_norm2 >= 0) norm2 = new_norm2, norm2_rho = new_rho, since_norm = 0;
        beta = before == 0 ? 0 : rho / before;
        if (!(rho - rho == 0) || !(new_norm2 - new_norm2 == 0))
            verdict = Verdict::not_finite;
        else if (new_norm2 >= 0 && new_norm2 <= tolerance2)
            verdict = Verdict::converged;
        else if (rho <= 0)
            verdict = Verdict::preconditioner_not_positive;
        else if (iteration >= limit)
            verdict = Verdict::limit;
    }
    /// Takes p.Ap after direction().
    KS_FN void directed(double pAp) {
        if (!(pAp - pAp == 0))
            verdict = Verdict::not_finite, alpha = 0;
        else if (pAp <= 0)
            verdict = Verdict::not_positive, alpha = 0;
        else
            alpha = rho / pAp, ++iteration;
    }
    /// Returns, after update(), rho of the iteration before, whose direction p still holds.
    KS_FN double rho_before() const { return beta > 0 ? rho / beta : 0; }
};

/// Input and output of decisions: one copy per thread on the CPU and per block on a device, all equal.
struct Scalars {
    Control control;
    double rho = 0;         ///< of this iteration, before `control` takes it
    double norm2 = 0;       ///< ||r||^2 of this iteration; negative: not computed
    double rho_first = 0;   ///< rho of iteration 0
    double true_norm2 = 0;  ///< ||b - A x||^2 when it was last computed
    bool norm_due = false;  ///< the norm of this iteration must still be computed

    /// Records the residual of an update.
    KS_FN void take(double new_rho, double new_norm2) {
        rho = new_rho, norm2 = new_norm2;
        if (control.iteration == 0) rho_first = new_rho;
        control.updated(new_rho, new_norm2);
    }
};

}  // namespace kasane::sparse
