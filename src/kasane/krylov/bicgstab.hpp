// BiCGStab for A x = b with any A, with or without a flexible preconditioner: the recurrence, which other methods use too, and the method.
// Invariants: r belongs to x after every iteration, also after one that broke down; the shadow vector is the residual of the last start.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/bicgstab_scalars.hpp>
#include <kasane/krylov/operator_ref.hpp>
#include <kasane/krylov/resident_bicgstab.hpp>
#include <kasane/krylov/resident_run.hpp>
#include <kasane/krylov/scaled_system.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
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
    double norm() const { return scalars_.norm(); }

    /// Begins with the present r, whose norm is given: first direction and shadow vector are r.
    void start(double norm) {
        scalars_.start(norm);
        algebra_.copy(w_.r, w_.shadow);
    }
    /// Continues after the caller has replaced r by a better residual of this norm; direction and shadow vector stay.
    void replaced(double norm) {
        scalars_.replaced(norm);
        if (!scalars_.fresh()) scalars_.set_rho(algebra_.dot(w_.shadow, w_.r));
    }

    // One iteration, in which the caller applies operator and preconditioner (none: p_hat is p and s_hat is r):
    //   p = direction();  p_hat = M^-1 p;  v = A p_hat;  half_step(p_hat, x, enough);  s_hat = M^-1 r;  t = A s_hat;  full_step(s_hat, x)
    // A step returns false where a denominator vanished, or where the first half made the residual smaller than `enough`: then the
    // iteration ends there, and a new start is needed.
    // Per iteration: 2 A, 2 M; vectors read or written without M: direction 4, dot 2, axpy 3, dot_norm2 2, finish 7 = 18; with M, 28.

    /// The next direction, p.
    const Vector& direction() {
        auto& [r, shadow, p, v, t, z] = w_;
        if (scalars_.fresh()) {
            algebra_.copy(r, p);
        } else {
            algebra_.direction(r, scalars_.beta(), scalars_.omega(), v, p);
        }
        return p;
    }
    /// Output vector for A p_hat.
    Vector& v() { return w_.v; }
    /// Output vector for A s_hat.
    Vector& t() { return w_.t; }

    /// Executes the first half, after v = A p_hat: computes alpha, then r -= alpha v, which is s; with a preconditioner also x += alpha
    /// p_hat.
    bool half_step(const Vector& p_hat, Vector& x, double enough) {
        auto& [r, shadow, p, v, t, z] = w_;
        const bool plain = &p_hat == &p;
        const auto [v_shadow, v2] = algebra_.dot_norm2(v, shadow);
        if (!scalars_.take_v(v_shadow, v2)) return false;
        const Scalar alpha = scalars_.alpha();
        if (!scalars_.take_half(algebra_.axpy_norm2(-alpha, v, r))) {
            scalars_.undo_half(algebra_.axpy_norm2(alpha, v, r));
            return false;
        }
        const bool half_is_enough = scalars_.is_enough(enough);
        if (!plain || half_is_enough) algebra_.axpby(alpha, p_hat, 1, x);
        return !half_is_enough;
    }
    /// Executes the second half, after t = A s_hat: omega; x += alpha p (if it has not been added) + omega s_hat; r -= omega t; rho.
    bool full_step(const Vector& s_hat, Vector& x) {
        auto& [r, shadow, p, v, t, z] = w_;
        const bool plain = &s_hat == &r;
        const auto [ts, t2] = algebra_.dot_norm2(t, r);
        if (!scalars_.take_t(ts, t2)) {
            if (plain) algebra_.axpby(scalars_.alpha(), p, 1, x);
            return false;
        }
        const Scalar omega = scalars_.omega();
        if (plain) {
            const auto [rho, r2] = algebra_.finish(scalars_.alpha(), p, omega, t, shadow, x, r);
            return scalars_.take_rest(rho, r2);
        }
        algebra_.axpby(omega, s_hat, 1, x);
        const double r2 = algebra_.axpy_norm2(-omega, t, r);
        return scalars_.take_rest(algebra_.dot(shadow, r), r2);
    }
    /// The quantity that vanished in a step that returned false; empty where none did.
    const char* vanished() const { return scalars_.vanished(); }

    /// Iterates without a preconditioner until the course or the recurrence ends, or an iteration is not allowed. If the algebra has
    /// iterations with resident scalars (all objects of its type, or those whose has_resident_bicgstab() returns true), these are executed.
    /// @return false where a quantity vanished or the first half of an iteration was enough; the course states whether the residual
    /// stagnated
    template <class Operator>
    bool iterate(const Operator& A, Vector& x, IterationCourse& course, const Allowance& allow) {
        if constexpr (requires { algebra_.has_resident_bicgstab(); } && requires { algebra_.resident_bicgstab(); }) {
            if (algebra_.has_resident_bicgstab()) return iterate_resident(algebra_.resident_bicgstab(), A, x, course, allow);
        } else if constexpr (requires { algebra_.resident_bicgstab(); }) {
            return iterate_resident(algebra_.resident_bicgstab(), A, x, course, allow);
        }
        bool sound = true;
        while (sound && course.goes_on(norm()) && allow(norm())) {
            const auto& p = direction();
            A.apply(algebra_, p, w_.v);
            sound = half_step(p, x, course.target);
            if (!sound) break;
            A.apply(algebra_, w_.r, w_.t);
            sound = full_step(w_.r, x);
            if (sound) course.take(norm());
        }
        return sound;
    }

   private:
    template <class Iterations, class Operator>
    bool iterate_resident(Iterations& on_space, const Operator& A, Vector& x, IterationCourse& course, const Allowance& allow) {
        using State = typename Iterations::State;
        if (!course.goes_on(norm()) || !allow(norm())) return true;
        auto& [r, shadow, p, v, t, z] = w_;
        on_space.begin(State{scalars_, course});
        int submitted = 0;
        const State last = run_resident(on_space, norm(), course, allow, [&] {
            ++submitted;
            on_space.direction(r, v, p);
            A.apply(algebra_, p, v);
            on_space.first_half(shadow, v, r);
            A.apply(algebra_, r, t);
            on_space.second_half(p, t, shadow, x, r);
        });
        if constexpr (requires { A.applied(2); }) A.applied(2 * (last.iterations - submitted));
        scalars_ = last.scalars;
        course = last.course;
        using End = typename State::End;
        if (last.end == End::lost) scalars_.undo_half(algebra_.axpy_norm2(scalars_.alpha(), v, r));
        if (last.end == End::enough || last.end == End::second) algebra_.axpby(scalars_.alpha(), p, 1, x);
        return last.end == End::none || last.end == End::course_ended;
    }

    Algebra& algebra_;
    BicgstabWorkspace<Algebra>& w_;
    BicgstabScalars<RecurrenceScalar<Scalar>> scalars_;
};

/// Finds x with |b - A x| <= rtol |b|, from the x that is given. After a breakdown or stagnation the method starts again from the true
/// residual, which is also the new shadow vector; the third start without gain ends the solve. With InnerBicgstab as M this is nested
/// BiCGStab.
/// @param M  flexible: may be another operator at every call (NoPreconditioner: none)
template <class Algebra, class Operator>
SolveLog bicgstab(Algebra& algebra, const Operator& A, AnyPreconditioner<Algebra> M, const typename Algebra::Vector& b,
                  typename Algebra::Vector& x, BicgstabWorkspace<Algebra>& work, const Options& options = {}) {
    constexpr int fruitless_starts = 3;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    if (!system.begin(work.r)) return log;
    BicgstabRecurrence<Algebra> it(algebra, work);
    const auto preconditioned = [&](const typename Algebra::Vector& in) -> const typename Algebra::Vector& {
        M.apply(algebra, in, *work.z, watch, watch.target());
        return *work.z;
    };

    bool known = true;  // r is b - A x
    int fruitless = 0;
    double best = system.norm();
    while (!system.converged()) {  // from one start to the next
        const double started_at = system.norm();
        it.start(started_at);
        const char* why = "";
        if (M.none()) {
            IterationCourse course(watch.target(), started_at, StagnationTest(options.stagnation_limit, started_at));
            const int before = log.iterations;
            if (!it.iterate(A, x, course, {watch})) why = it.vanished();
            if (course.stagnated) why = "progress";
            if (log.iterations > before) known = false;
        } else {
            StagnationTest stagnation(options.stagnation_limit, started_at);
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
