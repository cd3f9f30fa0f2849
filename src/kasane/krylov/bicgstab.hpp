// BiCGStab for A x = b with any A, with or without a flexible preconditioner: the recurrence, which other methods use too, and the method.
// Invariants: r belongs to x after every iteration, also after one that broke down; the shadow vector is the residual of the last start.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/scaled_system.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <optional>

namespace kasane::krylov {

/// Vectors of the iteration, kept by the caller when many systems of one size are solved.
template <class Algebra>
struct BicgstabWorkspace {
    using Vector = typename Algebra::Vector;  ///< of the algebra
    Vector r;                                 ///< residual
    Vector shadow;                            ///< shadow residual
    Vector p;                                 ///< direction
    Vector v;                                 ///< A M^-1 p
    Vector t;                                 ///< A M^-1 s
    std::optional<Vector> z;                  ///< M^-1 p, then M^-1 s; only with a preconditioner
    /// @param like  a vector of the system's size   @param preconditioned  allocate z
    BicgstabWorkspace(const Algebra& algebra, const Vector& like, bool preconditioned = false)
        : r(algebra.like(like)), shadow(algebra.like(like)), p(algebra.like(like)), v(algebra.like(like)), t(algebra.like(like)) {
        if (preconditioned) z.emplace(algebra.like(like));
    }
};

/// The recurrence: one half of an iteration at a time.                             [van der Vorst 1992; Saad 2003, algorithm 7.7]
template <class Algebra>
class BicgstabRecurrence {
   public:
    using Vector = typename Algebra::Vector;  ///< of the algebra
    using Scalar = typename Algebra::Scalar;  ///< of the algebra

    /// Works on the vectors of the workspace.
    BicgstabRecurrence(Algebra& algebra, BicgstabWorkspace<Algebra>& work) : algebra_(algebra), w_(work) {}

    /// The residual.
    Vector& r() { return w_.r; }
    /// |r|
    double norm() const { return std::sqrt(r2_); }

    /// Begins with the present r, whose norm is given: first direction and shadow vector are r.
    void start(double norm) {
        r2_ = norm * norm, shadow2_ = r2_, rho_ = r2_;
        algebra_.copy(w_.r, w_.shadow);
        fresh_ = true;
    }
    /// To be called after r was replaced by a better one of this norm: direction and shadow stay.
    void replaced(double norm) {
        r2_ = norm * norm;
        if (!fresh_) rho_ = algebra_.dot(w_.shadow, w_.r);
    }

    // One iteration, in which the caller applies operator and preconditioner (none: p_hat is p and s_hat is r):
    //   p = direction();  p_hat = M^-1 p;  v = A p_hat;  half_step(p_hat, x, enough);  s_hat = M^-1 r;  t = A s_hat;  full_step(s_hat, x)
    // A step returns false where a denominator vanished, or where the first half made the residual smaller than `enough`: then the
    // iteration ends there, and a new start is needed.
    // Per iteration: 2 A, 2 M; vectors read or written without M: direction 4, dot 2, axpy 3, dot_norm2 2, finish 7 = 18; with M, 28.

    /// The next direction, p.
    const Vector& direction() {
        auto& [r, shadow, p, v, t, z] = w_;
        if (fresh_) {
            algebra_.copy(r, p);
        } else {
            const Scalar beta = rho_ / rho_before_ * (alpha_ / omega_);
            algebra_.direction(r, beta, omega_, v, p);
        }
        return p;
    }
    /// Output vector for A p_hat.
    Vector& v() { return w_.v; }
    /// Output vector for A s_hat.
    Vector& t() { return w_.t; }

    /// After v = A p_hat: alpha; r -= alpha v, which is s; with a preconditioner x += alpha p_hat, too.
    bool half_step(const Vector& p_hat, Vector& x, double enough) {
        auto& [r, shadow, p, v, t, z] = w_;
        const bool plain = &p_hat == &p;
        const auto [v_shadow, v2] = algebra_.dot_norm2(v, shadow);
        if (!(std::abs(v_shadow) > tiny * std::sqrt(shadow2_ * v2))) return broken("shadow.v");  // rounding alone
        alpha_ = rho_ / conjugate(v_shadow);
        if (std::abs(alpha_) * std::sqrt(largest_gain2_) > 1 / tiny) return broken("A p");  // x would become too large
        const double before2 = r2_;
        r2_ = algebra_.axpy_norm2(-alpha_, v, r);
        if (!(r2_ <= 1e12 * before2)) {
            r2_ = algebra_.axpy_norm2(alpha_, v, r);
            return broken("shadow.v");
        }
        const bool half_is_enough = r2_ <= enough * enough;
        if (!plain || half_is_enough) algebra_.axpby(alpha_, p_hat, 1, x);
        return !half_is_enough || broken("");
    }
    /// After t = A s_hat: omega; x += alpha p (if it has not been added) + omega s_hat; r -= omega t; rho.
    bool full_step(const Vector& s_hat, Vector& x) {
        auto& [r, shadow, p, v, t, z] = w_;
        const bool plain = &s_hat == &r;
        const auto [ts, t2] = algebra_.dot_norm2(t, r);
        omega_ = ts / t2;
        largest_gain2_ = std::max(largest_gain2_, t2 / r2_);
        if (!(std::abs(ts) > tiny * std::sqrt(t2 * r2_)) || std::abs(omega_) * std::sqrt(largest_gain2_) > 1 / tiny) {
            if (plain) algebra_.axpby(alpha_, p, 1, x);
            return broken("omega");
        }
        rho_before_ = rho_;
        if (plain) {
            const auto [rho, r2] = algebra_.finish(alpha_, p, omega_, t, shadow, x, r);
            rho_ = rho, r2_ = r2;
        } else {
            algebra_.axpby(omega_, s_hat, 1, x);
            r2_ = algebra_.axpy_norm2(-omega_, t, r);
            rho_ = algebra_.dot(shadow, r);
        }
        fresh_ = false;
        return std::abs(rho_) > tiny * std::sqrt(shadow2_ * r2_) || broken("rho");
    }
    /// The quantity that vanished in a step that returned false; empty where none did.
    const char* vanished() const { return vanished_; }

   private:
    bool broken(const char* what) {
        vanished_ = what;
        return false;
    }

    static constexpr double tiny = 1e-13;
    Algebra& algebra_;
    BicgstabWorkspace<Algebra>& w_;
    double r2_ = 0, shadow2_ = 0;
    double largest_gain2_ = 0;  // of |A s|^2 / |s|^2 so far
    Scalar rho_{}, rho_before_{}, alpha_{}, omega_{};
    bool fresh_ = true;
    const char* vanished_ = "";
};

/// Finds x with |b - A x| <= rtol |b|, from the x that is given. After a breakdown or a stagnated residual it starts again from the true
/// residual, with it as the shadow vector; the third start without gain ends it. With InnerBicgstab as M this is nested BiCGStab.
/// @param M  flexible: may be another operator at every call (NoPreconditioner: none)
template <class Algebra, class Operator, class Preconditioner>
SolveLog bicgstab(Algebra& algebra, const Operator& A, Preconditioner&& M, const typename Algebra::Vector& b, typename Algebra::Vector& x,
                  BicgstabWorkspace<Algebra>& work, const Options& options = {}) {
    constexpr int fruitless_starts = 3;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    if (!system.begin(work.r)) return log;
    BicgstabRecurrence<Algebra> it(algebra, work);
    auto&& inner = watched<Algebra>(M);
    const auto preconditioned = [&](const typename Algebra::Vector& in) -> const typename Algebra::Vector& {
        if constexpr (std::same_as<std::remove_cvref_t<Preconditioner>, NoPreconditioner>) return in;
        inner.apply(algebra, in, *work.z, watch, watch.target());
        return *work.z;
    };

    bool known = true;  // r is b - A x
    int fruitless = 0;
    double best = system.norm();
    while (!system.converged()) {  // from one start to the next
        const double started_at = system.norm();
        StagnationTest stagnation(options.stagnation_limit, started_at);
        it.start(started_at);
        const char* why = "";
        while (it.norm() > watch.target() && watch.go_on(it.norm())) {
            known = false;
            const auto& p_hat = preconditioned(it.direction());
            A.apply(algebra, p_hat, it.v());
            bool sound = it.half_step(p_hat, x, watch.target());
            if (sound) {
                const auto& s_hat = preconditioned(it.r());
                A.apply(algebra, s_hat, it.t());
                sound = it.full_step(s_hat, x);
            }
            if (!sound) why = it.vanished();
            if (sound && stagnation.stagnated(it.norm())) why = "progress";
            if (!sound || *why != 0) break;
        }
        if (!known) system.update(work.r), known = true;
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged()) break;
        ++log.restarts;
        fruitless = system.norm() <= 0.5 * best ? 0 : fruitless + 1;
        best = std::min(best, system.norm());
        if (fruitless == fruitless_starts) {
            watch.end(*why != 0 ? Outcome::breakdown : Outcome::stagnated);
            break;
        }
        watch.note("BiCGStab: new start at " + watch.place(system.norm()) +
                   (*why != 0 ? std::string(", where ") + why + " vanished" : ", the true one, where the recurrence's had converged"));
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(work.r, known);
    return log;
}

}  // namespace kasane::krylov
