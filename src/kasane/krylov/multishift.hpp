// Conjugate gradients for (A + s_i) x_i = b with one Krylov space for all shifts s_i, A Hermitian positive definite
// [Jegerlehner 1996, hep-lat/9612014]. Invariants: no exception for a numerical reason; the method starts from zero, because only then do
// all residuals have one direction.
#pragma once

#include <kasane/krylov/watch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kasane::krylov {

/// Vectors of the iteration, kept by the caller when many systems of one size are solved.
template <class Algebra>
struct MultishiftWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    Vector r;                                 ///< residual of the first shift
    Vector q;                                 ///< (A + s_0) p
    std::vector<Vector> p;                    ///< directions of all shifts
    /// @param like  a vector of the system's size
    MultishiftWorkspace(const Algebra& algebra, const Vector& like, std::size_t shifts) : r(algebra.like(like)), q(algebra.like(like)) {
        for (std::size_t i = 0; i < shifts; ++i) p.push_back(algebra.like(like));
    }
};

/// A + shift, for an A with apply_dot(algebra, in, out) -> double (in.out), and with apply where that is called.
template <class Operator>
struct ShiftedOperator {
    const Operator& A;  ///< Hermitian
    double shift = 0;   ///< added to its diagonal

    /// out = (A + shift) in
    template <class Algebra, class Vector>
    void apply(Algebra& algebra, const Vector& in, Vector& out) const {
        A.apply(algebra, in, out);
        if (shift != 0) algebra.axpby(shift, in, 1, out);
    }
    /// Does the same; returns in.out.
    template <class Algebra, class Vector>
    double apply_dot(Algebra& algebra, const Vector& in, Vector& out) const {
        const double product = A.apply_dot(algebra, in, out);
        if (shift == 0) return product;
        algebra.axpby(shift, in, 1, out);
        return product + shift * algebra.norm2(in);
    }
};

/// The scalars of the iteration; vectors and operator may change their precision between two calls of run().
class MultishiftRecurrence {
   public:
    /// Starts from a residual r with r2 = r.r; r is the first direction of every shift.
    MultishiftRecurrence(const std::vector<double>& shifts, double r2)
        : shifts_(shifts), zeta_(shifts.size(), 1), zeta_before_(shifts.size(), 1), r2_(r2), active_(shifts.size()) {}

    /// Norm of the first shift's residual.
    double norm() const { return std::sqrt(r2_); }
    /// Number of shifts whose residuals are above the target of the solve; the largest shifts converge first.
    std::size_t active() const { return active_; }

    /// Iterates until norm() <= end or the watch ends; adds the corrections of active shifts to x. @param A  as multishift_cg
    template <class Algebra, class Operator>
    void run(Algebra& algebra, const Operator& A, MultishiftWorkspace<Algebra>& work, std::vector<typename Algebra::Vector>& x, double end,
             Watch& watch) {
        auto& [r, q, p] = work;
        StagnationTest stagnation(10 * watch.options().stagnation_limit, norm());
        const ShiftedOperator<Operator> first{A, shifts_[0]};
        while (norm() > end && watch.go_on(norm())) {
            const double curvature = first.apply_dot(algebra, p[0], q);
            if (!(curvature > 0) || !std::isfinite(curvature)) {
                watch.end(std::isfinite(curvature) ? Outcome::breakdown : Outcome::not_finite);
                return;
            }
            const double alpha = r2_ / curvature, next = algebra.step(alpha, p[0], q, x[0], r), beta = next / r2_;
            for (std::size_t i = 1; i < active_; ++i) {
                const double delta = shifts_[i] - shifts_[0], before = zeta_before_[i], now = zeta_[i];
                const double after =
                    now * before * alpha_before_ / (alpha * beta_before_ * (before - now) + before * alpha_before_ * (1 + delta * alpha));
                algebra.axpby(alpha * after / now, p[i], 1, x[i]);
                algebra.axpby(after, r, beta * (after / now) * (after / now), p[i]);
                zeta_before_[i] = now, zeta_[i] = after;
            }
            algebra.axpby(1, r, beta, p[0]);
            while (active_ > 1 && zeta_[active_ - 1] * std::sqrt(next) <= watch.target()) --active_;
            r2_ = next, alpha_before_ = alpha, beta_before_ = beta;
            if (stagnation.stagnated(norm())) watch.end(Outcome::stagnated);
        }
    }

   private:
    const std::vector<double>& shifts_;
    std::vector<double> zeta_, zeta_before_;
    double r2_, alpha_before_ = 1, beta_before_ = 0;
    std::size_t active_;
};

/// Finds x_i with |b - (A + s_i) x_i| <= true_residual_slack rtol |b| for every shift, from zero. The first shift's system is iterated; the
/// residuals of the others are multiples of its residual. A shift whose residual is below rtol |b| is no longer updated.
/// Per iteration: A with apply_dot(algebra, in, out) -> double (in.out), and vectors read or written: step 6, 3 for the first direction, 3
/// for the first shift's own term where it is not 0, 6 for each further shift.
/// @param shifts  not negative, ascending; at least one   @param x  as many vectors; their values do not matter
/// @return the log: `true_residual` is the largest of all shifts, `residuals` has the first shift's
template <class Algebra, class Operator>
SolveLog multishift_cg(Algebra& algebra, const Operator& A, const std::vector<double>& shifts, const typename Algebra::Vector& b,
                       std::vector<typename Algebra::Vector>& x, MultishiftWorkspace<Algebra>& work, const Options& options = {}) {
    SolveLog log;
    Watch watch(options, log);
    auto& [r, q, p] = work;
    for (auto& solution : x) algebra.zero(solution);
    const double b2 = algebra.norm2(b);
    if (!(b2 > 0) || !std::isfinite(b2)) {
        log.end = b2 == 0 ? Outcome::converged : Outcome::not_finite;
        return log;
    }
    watch.set_b_norm(std::sqrt(b2));
    algebra.copy(b, r);
    for (auto& direction : p) algebra.copy(b, direction);
    MultishiftRecurrence(shifts, b2).run(algebra, A, work, x, watch.target(), watch);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
        ShiftedOperator<Operator>{A, shifts[i]}.apply_dot(algebra, x[i], q);
        algebra.axpby(1, b, -1, q);
        log.true_residual = std::max(log.true_residual, std::sqrt(algebra.norm2(q) / b2));
    }
    if (options.history) log.residuals.push_back(log.true_residual);
    if (!watch.ended()) log.end = log.true_residual <= options.true_residual_slack * options.rtol ? Outcome::converged : Outcome::stagnated;
    return log;
}

}  // namespace kasane::krylov
