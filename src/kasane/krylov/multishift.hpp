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

/// Finds x_i with |b - (A + s_i) x_i| <= true_residual_slack rtol |b| for every shift, from zero. The first shift's system is iterated; the
/// residuals of the others are multiples of its residual. A shift whose residual is below rtol |b| is no longer updated.
/// Per iteration: A with apply_dot(algebra, in, out) -> double (in.out), and vectors read or written: step 6, 3 for the first direction, 3
/// for the first shift's own term where it is not 0, 6 for each further shift.
/// @param shifts  not negative, ascending; at least one   @param x  as many vectors; their values do not matter
/// @return the log: `true_residual` is the largest of all shifts, `residuals` has the first shift's
template <class Algebra, class Operator>
SolveLog multishift_cg(Algebra& algebra, const Operator& A, const std::vector<double>& shifts, const typename Algebra::Vector& b,
                       std::vector<typename Algebra::Vector>& x, MultishiftWorkspace<Algebra>& work, const Options& options = {}) {
    using Vector = typename Algebra::Vector;
    const std::size_t count = shifts.size();
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
    const auto apply_shifted = [&](double shift, const Vector& in, Vector& out) {
        const double product = A.apply_dot(algebra, in, out);
        if (shift == 0) return product;
        algebra.axpby(shift, in, 1, out);
        return product + shift * algebra.norm2(in);
    };

    algebra.copy(b, r);
    for (auto& direction : p) algebra.copy(b, direction);
    std::vector<double> zeta(count, 1), zeta_before(count, 1);
    double r2 = b2, alpha_before = 1, beta_before = 0;
    std::size_t active = count;  // the largest shifts converge first
    StagnationTest stagnation(10 * options.stagnation_limit, watch.b_norm());
    while (std::sqrt(r2) > watch.target() && watch.go_on(std::sqrt(r2))) {
        const double curvature = apply_shifted(shifts[0], p[0], q);
        if (!(curvature > 0) || !std::isfinite(curvature)) {
            watch.end(std::isfinite(curvature) ? Outcome::breakdown : Outcome::not_finite);
            break;
        }
        const double alpha = r2 / curvature, next = algebra.step(alpha, p[0], q, x[0], r), beta = next / r2;
        for (std::size_t i = 1; i < active; ++i) {
            const double delta = shifts[i] - shifts[0], before = zeta_before[i], now = zeta[i];
            const double after =
                now * before * alpha_before / (alpha * beta_before * (before - now) + before * alpha_before * (1 + delta * alpha));
            algebra.axpby(alpha * after / now, p[i], 1, x[i]);
            algebra.axpby(after, r, beta * (after / now) * (after / now), p[i]);
            zeta_before[i] = now, zeta[i] = after;
        }
        algebra.axpby(1, r, beta, p[0]);
        while (active > 1 && zeta[active - 1] * std::sqrt(next) <= watch.target()) --active;
        r2 = next, alpha_before = alpha, beta_before = beta;
        if (stagnation.stagnated(std::sqrt(r2))) watch.end(Outcome::stagnated);
    }
    for (std::size_t i = 0; i < count; ++i) {
        apply_shifted(shifts[i], x[i], q);
        algebra.axpby(1, b, -1, q);
        log.true_residual = std::max(log.true_residual, std::sqrt(algebra.norm2(q) / b2));
    }
    if (options.history) log.residuals.push_back(log.true_residual);
    if (!watch.ended()) log.end = log.true_residual <= options.true_residual_slack * options.rtol ? Outcome::converged : Outcome::stagnated;
    return log;
}

}  // namespace kasane::krylov
