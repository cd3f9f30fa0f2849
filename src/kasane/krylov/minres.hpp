// MINRES for real symmetric A, definite or not, with a symmetric positive definite preconditioner.
// Invariants: the residual of the recurrence never grows in the norm of M^-1; the method keeps seven vectors.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/operator_ref.hpp>
#include <kasane/krylov/scaled_system.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::krylov {

/// Vectors of the iteration, kept by the caller when many systems of one size are solved.
template <class Algebra>
struct MinresWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    Vector v;                                 ///< v_j, of Lanczos' process
    Vector v_before;                          ///< v_j-1, then v_j+1
    Vector z;                                 ///< M^-1 v_j, divided by its norm
    Vector z_next;                            ///< M^-1 v_j+1
    Vector q;                                 ///< A z
    Vector w;                                 ///< last direction of x
    Vector w_before;                          ///< the one before it
    /// @param like  a vector of the system's size
    MinresWorkspace(const Algebra& algebra, const Vector& like)
        : v(algebra.like(like)),
          v_before(algebra.like(like)),
          z(algebra.like(like)),
          z_next(algebra.like(like)),
          q(algebra.like(like)),
          w(algebra.like(like)),
          w_before(algebra.like(like)) {}
};

/// Finds x with |b - A x| <= rtol |b|, from the x that is given.       [Paige & Saunders 1975; Elman, Silvester & Wathen 2014, 4.1]
/// If the recurrence has converged but the true residual has not, the iteration starts again from the true residual; the third start
/// without gain ends the solve as stagnated. A singular A is allowed where b lies in its range. The solve ends as
/// preconditioner_not_positive where r.M^-1 r <= 0.
/// Per iteration: A, M, two dots; vectors read or written: 2 + 2 + 3 + 3 + 2 (Lanczos) + 8 (w, x) = 20.
template <class Algebra, class Operator>
SolveLog minres(Algebra& algebra, const Operator& A, AnyOperator<Algebra> M, const typename Algebra::Vector& b, typename Algebra::Vector& x,
                MinresWorkspace<Algebra>& work, const Options& options = {}) {
    constexpr int fruitless_starts = 3;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    auto& [v, v_before, z, z_next, q, w, w_before] = work;
    if (!system.begin(v)) return log;

    int fruitless = 0;
    double best = system.norm();
    while (!system.converged() && !watch.ended()) {  // from one start to the next
        M.apply(algebra, v, z);
        const double zv = algebra.dot(z, v);
        if (!(zv > 0)) {
            watch.end(std::isnan(zv) ? Outcome::not_finite : Outcome::preconditioner_not_positive);
            break;
        }
        algebra.zero(v_before), algebra.zero(w), algebra.zero(w_before);
        double gamma = std::sqrt(zv), gamma_before = 1, eta = gamma;
        double cosine = 1, cosine_before = 1, sine = 0, sine_before = 0;
        const double unit = system.norm() / gamma;  // |r| per norm of M^-1, at the start
        StagnationTest stagnation(options.stagnation_limit, system.norm());
        bool exhausted = false, stuck = false;  // Lanczos' process has ended, without the solution
        while (!exhausted && !stuck && unit * std::abs(eta) > watch.target() && watch.go_on(unit * std::abs(eta))) {
            algebra.axpby(0, z, 1 / gamma, z);
            A.apply(algebra, z, q);
            const double delta = algebra.dot(q, z);
            algebra.axpby(-gamma / gamma_before, v_before, 1, q);
            algebra.axpby(-delta / gamma, v, 1, q);
            M.apply(algebra, q, z_next);
            const double next2 = algebra.dot(z_next, q), scale = std::hypot(delta, gamma);
            if (!std::isfinite(next2)) {
                watch.end(Outcome::not_finite);
                break;
            }
            if (next2 < -1e-14 * scale * scale) {
                watch.end(Outcome::preconditioner_not_positive);
                break;
            }
            exhausted = !(next2 > 1e-28 * scale * scale);
            const double gamma_next = exhausted ? 0 : std::sqrt(next2);
            // The new column of the tridiagonal matrix, rotated by the two rotations before; its own one follows.
            const double a0 = cosine * delta - cosine_before * sine * gamma, a1 = std::hypot(a0, gamma_next);
            const double a2 = sine * delta + cosine_before * cosine * gamma, a3 = sine_before * gamma;
            stuck = !(a1 > 1e-14 * scale);  // A z has no component outside the span of the directions before
            if (stuck) break;
            algebra.axpby(-a2 / a1, w, -a3 / a1, w_before);
            algebra.axpby(1 / a1, z, 1, w_before);
            std::swap(w, w_before);
            cosine_before = std::exchange(cosine, a0 / a1);
            sine_before = std::exchange(sine, gamma_next / a1);
            algebra.axpby(cosine * eta, w, 1, x);
            eta *= -sine;
            gamma_before = std::exchange(gamma, gamma_next);
            std::swap(v_before, v);
            std::swap(v, q);
            std::swap(z, z_next);
            stuck = stagnation.stagnated(unit * std::abs(eta));
        }
        system.update(v);
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged()) break;
        ++log.restarts;
        fruitless = system.norm() <= 0.5 * best ? 0 : fruitless + 1;
        best = std::min(best, system.norm());
        if (fruitless == fruitless_starts) {
            watch.end(Outcome::stagnated);
            break;
        }
        watch.note("MINRES: new start at " + watch.place(system.norm()));
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(v, true);
    return log;
}

}  // namespace kasane::krylov
