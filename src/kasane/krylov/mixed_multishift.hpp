// Conjugate gradients for (A + s_i) x_i = b in mixed precision: the iteration begins in the high precision and continues in the low one. An
// error of A p changes the solution in proportion to p, and p shrinks with the residual. The precision that an iteration needs is therefore
// rtol |b| / |r| [van den Eshof & Sleijpen 2004, SIAM J. Matrix Anal. Appl. 26, 125]. Reliable updates do not work for several shifts: the
// residuals stay parallel only as long as none of them is replaced. Invariant: convergence is judged by true residuals of the high
// precision.
#pragma once

#include <kasane/krylov/multishift.hpp>
#include <kasane/krylov/reliable.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kasane::krylov {

/// Vectors of all shifts in both precisions, kept by the caller when many systems of one size are solved.
template <class High, class Low>
struct MixedMultishiftWorkspace {
    MultishiftWorkspace<High> high;       ///< of the first iterations
    MultishiftWorkspace<Low> low;         ///< of the later iterations
    std::vector<typename Low::Vector> y;  ///< corrections of the later iterations
    /// @param high_like, low_like  vectors of the system's size
    MixedMultishiftWorkspace(const High& high_algebra, const typename High::Vector& high_like, const Low& low_algebra,
                             const typename Low::Vector& low_like, std::size_t shifts)
        : high(high_algebra, high_like, shifts), low(low_algebra, low_like, shifts) {
        for (std::size_t i = 0; i < shifts; ++i) y.push_back(low_algebra.like(low_like));
    }
};

/// Finds x_i with |b - (A + s_i) x_i| <= true_residual_slack rtol |b| for every shift, from zero. It iterates as multishift_cg with A until
/// the residual is below rtol |b| / low_error, then with the low operator `a`. A shift whose true residual is above the tolerance at the
/// end continues alone (reliable_hermitian_cg).
/// @param A, a  with apply(algebra, in, out) and apply_dot   @param shifts, x  as multishift_cg
/// @param low_error  relative error of a vector of the low precision after an iteration   @param delta  as reliable_hermitian_cg
/// @return the log: sums over all iterations, the largest `true_residual`, the first outcome that is not `converged`
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
SolveLog mixed_multishift_cg(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert,
                             const std::vector<double>& shifts, const typename High::Vector& b, std::vector<typename High::Vector>& x,
                             MixedMultishiftWorkspace<High, Low>& together, const ReliableWorkspace<High, Low>& alone,
                             const Options& options, double low_error, double delta) {
    SolveLog log;
    Watch watch(options, log);
    for (auto& solution : x) high.zero(solution);
    const double norm = std::sqrt(high.norm2(b));
    if (!(norm > 0) || !std::isfinite(norm)) {
        log.end = norm == 0 ? Outcome::converged : Outcome::not_finite;
        return log;
    }
    // All of b / |b|, whose numbers the low precision holds.
    high.axpby(1 / norm, b, 0, together.high.r);
    for (auto& direction : together.high.p) high.copy(together.high.r, direction);
    MultishiftRecurrence recurrence(shifts, 1);
    recurrence.run(high, A, together.high, x, std::max(options.rtol / low_error, options.rtol), watch);
    if (!watch.ended() && recurrence.norm() > options.rtol) {
        const std::size_t active = recurrence.active();
        convert(together.high.r, together.low.r);
        for (std::size_t i = 0; i < active; ++i) {
            convert(together.high.p[i], together.low.p[i]);
            low.zero(together.y[i]);
        }
        recurrence.run(low, a, together.low, together.y, options.rtol, watch);
        for (std::size_t i = 0; i < active; ++i) {
            if (!std::isfinite(low.norm2(together.y[i]))) continue;
            convert(together.y[i], alone.z);
            high.axpby(1, alone.z, 1, x[i]);
        }
    }
    const bool complete = !watch.ended() || log.end == Outcome::breakdown || log.end == Outcome::stagnated;
    if (complete) log.end = Outcome::converged;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
        high.axpby(0, b, norm, x[i]);
        const ShiftedOperator<HighOperator> shifted{A, shifts[i]};
        shifted.apply(high, x[i], alone.r);
        high.axpby(1, b, -1, alone.r);
        double found = std::sqrt(high.norm2(alone.r)) / norm;
        if (complete && !(found <= options.true_residual_slack * options.rtol)) {
            const auto more = reliable_hermitian_cg(high, shifted, low, ShiftedOperator<LowOperator>{a, shifts[i]}, convert, b, x[i], alone,
                                                    options, delta);
            log.iterations += more.iterations;
            log.updates += more.updates;
            log.restarts += more.restarts;
            log.notes.insert(log.notes.end(), more.notes.begin(), more.notes.end());
            found = more.true_residual;
            if (log.converged() && !more.converged()) log.end = more.end;
        }
        log.true_residual = std::max(log.true_residual, found);
    }
    if (options.history) log.residuals.push_back(log.true_residual);
    return log;
}

}  // namespace kasane::krylov
