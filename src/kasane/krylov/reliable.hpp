// BiCGStab and conjugate gradients in mixed precision with reliable updates; conjugate gradients on the normal equations or for a Hermitian
// A. The recurrences run in a low precision. At intervals their correction is added to x in the high precision, and they continue from its
// true residual [Sleijpen & van der Vorst 1996; Clark et al. 2010, section 3]. With the same algebra twice they are the plain methods.
// Invariants: x changes only by an update that makes the true residual smaller, so that a correction spoilt by rounding is dropped;
// convergence is judged by the residual of the high precision alone.
#pragma once

#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/deflation.hpp>
#include <kasane/krylov/resident_cg.hpp>
#include <kasane/krylov/update_spacing.hpp>

#include <algorithm>
#include <type_traits>

namespace kasane::krylov {

/// Vectors of the high precision and of the low one; the caller owns them.
template <class High, class Low>
struct ReliableWorkspace {
    typename High::Vector& r;     ///< of the high precision
    typename High::Vector& z;     ///< of the high precision
    BicgstabWorkspace<Low>& low;  ///< of conjugate gradients: s, p, v = A p, t = A^+ A p
    typename Low::Vector& y;      ///< the correction since the last update
};

/// Updates x += y, r = b - A x, and undoes it if the residual does not become smaller. Returns whether it did.
template <class High, class Low, class Convert, class System>
bool update(High& high, Low& low, const Convert& convert, typename High::Vector& x, const ReliableWorkspace<High, Low>& work,
            System& system) {
    if (!std::isfinite(low.norm2(work.y))) return false;
    const double before = system.norm();
    convert(work.y, work.z);
    high.axpby(1, work.z, 1, x);
    if (system.update(work.r) <= before) return true;
    high.axpby(-1, work.z, 1, x);
    system.update(work.r);
    return false;
}

/// Finds x with |b - A x| <= rtol |b|, from the x that is given, by BiCGStab with the low operator `a`.
/// @param factors  of the first update, later ones as Spacing decides; 0: never before the recurrence has converged
/// Iterations cost as BiCGStab's in the low precision; an update: A, and vectors of the high precision: convert 1, x 3, r 3, norm 1,
/// convert 1 = 9.
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
SolveLog reliable_bicgstab(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert,
                           const typename High::Vector& b, typename High::Vector& x, const ReliableWorkspace<High, Low>& work,
                           const Options& options = {}, const UpdateFactors& factors = 0.1) {
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(high, A, b, x, watch);
    const auto& [r, z, w, y] = work;
    if (!system.begin(r)) return log;
    BicgstabRecurrence<Low> it(low, w);
    Progress progress;
    Spacing spacing(factors, 0.01);
    NewStarts starts(system.norm());

    bool fresh = true;
    while (!system.converged() && !watch.ended()) {  // from one update to the next
        convert(r, w.r);
        low.zero(y);
        const double updated_at = system.norm();
        if (fresh) {
            it.start(updated_at);
        } else {
            it.replaced(updated_at);
        }
        const char* why = "";
        IterationCourse course(watch.target(), updated_at, StagnationTest(options.stagnation_limit, updated_at), SlowEnds::below_first,
                               spacing.factors());
        bool sound = it.iterate(a, y, course, {watch});
        if (!sound) why = it.vanished();
        if (course.stagnated) sound = false, why = "progress";
        const bool by_rounding = !update(high, low, convert, x, work, system) && sound;
        if (by_rounding) sound = false, why = "the gain in double";
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged()) break;
        fresh = !sound;
        if (!fresh) spacing.learn(it.norm(), system.norm());
        if (!fresh && progress.lost(updated_at, system.norm(), it.norm())) watch.end(Outcome::stagnated);
        if (fresh && !watch.ended()) {
            ++log.restarts;
            if (!starts.allow(system.norm(), *why != 0 && !by_rounding)) {
                watch.end(by_rounding ? Outcome::stagnated : Outcome::breakdown);
            } else if (*why != 0) {
                watch.note("BiCGStab: new start at " + watch.place(system.norm()) + ", where " + why + " vanished");
            }
        }
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(r, true);
    return log;
}

/// Conjugate gradients from an update to the next one, by the host or with resident scalars.
template <class Low, class Form>
void iterate(Low& low, const Form& form, BicgstabWorkspace<Low>& work, typename Low::Vector& y, CgCourse& course, const Allowance& allow) {
    auto& [s, unused, p, q, t, none] = work;
    if constexpr (requires { low.resident_cg(), form.square(p, q, t); }) {
        if (!course.goes_on() || !allow(course.claimed)) return;
        auto& on_space = low.resident_cg();
        on_space.begin({course});
        int submitted = 0;
        const CgState last = run_resident(on_space, course.claimed, course, allow, [&] {
            ++submitted;
            on_space.direction(s, p);
            const auto [image, shift] = form.square(p, q, t);
            on_space.curvature(image, shift, p);
            on_space.step(p, t, y, s);
            if (course.low) on_space.along(s, t);
        });
        course = last.course;
        if constexpr (requires { form.applied(1); }) form.applied(last.iterations - submitted);
        if (!course.fresh) low.axpby(1, s, course.beta(), p);
    } else {
        while (course.goes_on() && allow(course.claimed)) {
            if (!course.take_curvature(form.product(p, q, t))) break;
            course.take_step(low.step(course.alpha, p, t, y, s));
            if (course.low) course.take_along(low.dot(s, t).real());
            if (course.fresh) break;
            low.axpby(1, s, course.beta(), p);
        }
    }
}

/// Conjugate gradients with reliable updates for both systems below; `form` has
///   correct(r, z, x) adds to x what a deflation solves for; returns whether x changed
///   gradient(r, z)   s of the high precision: A^+ r or r, deflated, in z or r itself
///   product(p, q, t) p.(t), where t = A^+ A p or A p; q is a vector to use
///   square(p, q, t)  optional: the same as a Square
///                                                                                  [Hestenes & Stiefel 1952; Saad 2003, section 8.3]
/// Between two updates |r| is assumed to shrink as |s| does. After an update the direction is made orthogonal to the new s again [Clark et
/// al. 2010]. In a low precision its coefficient is Polak & Ribiere's, which on a thermalised field at a light mass took 640 iterations in
/// half where the usual one took 4000.
template <class High, class HighOperator, class Low, class Convert, class Form>
SolveLog reliable_conjugate_gradients(High& high, const HighOperator& A, Low& low, const Convert& convert, const Form& form,
                                      const typename High::Vector& b, typename High::Vector& x, const ReliableWorkspace<High, Low>& work,
                                      const Options& options, double delta) {
    constexpr int most_starts = 5;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(high, A, b, x, watch);
    const auto& [r, z, w, y] = work;
    auto& [s, unused, p, q, t, none] = w;
    if (!system.begin(r)) return log;
    Progress progress;
    Spacing spacing(delta, 0.01);

    double s2 = 0, s_at_update = 0, s_best = 0;
    int since_best = 0;  // iterations
    bool fresh = true;
    if (form.correct(r, z, x)) system.update(r);
    while (!system.converged() && !watch.ended()) {  // from one update to the next
        const double updated_at = system.norm();
        const auto& gradient = form.gradient(r, z);
        const double claimed_s2 = s2, s_before = s_at_update;
        s2 = high.norm2(gradient);
        s_at_update = std::sqrt(s2);
        const double r_per_s = updated_at / s_at_update;
        if (!(s2 > 0) || !std::isfinite(r_per_s)) {
            watch.end(std::isnan(s2) ? Outcome::not_finite : Outcome::stagnated);
            break;
        }
        if (s_best == 0 || s_at_update <= 0.5 * s_best) s_best = s_at_update, since_best = 0;
        // In double, slow progress follows from the condition number; in a low precision, from directions that are no longer conjugate.
        if (delta > 0 && since_best > 2 * options.stagnation_limit) {
            watch.end(Outcome::stagnated);
            break;
        }
        if (s_before > 0 && progress.lost(s_before, s_at_update, std::sqrt(claimed_s2))) {
            watch.end(Outcome::stagnated);
            break;
        }
        convert(gradient, s);
        low.zero(y);
        if (fresh) {
            low.copy(s, p);
        } else {
            spacing.learn(std::sqrt(claimed_s2), s_at_update);
            if (spacing.hopeless()) {
                watch.end(Outcome::stagnated);
                break;
            }
            low.axpby(-low.dot(s, p) / s2, s, 1, p);
            low.axpby(1, s, s2 / claimed_s2, p);
        }
        CgCourse course{.target = 0.9 * watch.target(),
                        .first = updated_at,
                        .delta = spacing.delta(),
                        .low = delta > 0,
                        .update_after = options.stagnation_limit,
                        .r_per_s = r_per_s,
                        .stagnation = {10 * options.stagnation_limit, updated_at},
                        .s2 = s2,
                        .claimed = updated_at,
                        .largest = updated_at};
        iterate(low, form, w, y, course, {watch});
        s2 = course.s2, fresh = course.fresh, since_best += course.iterations;
        if (!update(high, low, convert, x, work, system)) fresh = true;
        if (form.correct(r, z, x)) system.update(r);
        if (!std::isfinite(system.norm())) watch.end(Outcome::not_finite);
        if (watch.ended() || system.converged() || !fresh) continue;
        if (++log.restarts > most_starts) watch.end(Outcome::breakdown);
        watch.note("conjugate gradients: new start at " + watch.place(system.norm()));
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(r, true);
    return log;
}

/// The form of reliable_cg.
template <class High, class HighOperator, class Low, class LowOperator, class Deflator>
struct NormalEquations {
    High& high;                 ///< algebra of the high precision
    const HighOperator& A;      ///< its operator
    Low& low;                   ///< algebra of the low precision
    const LowOperator& a;       ///< its operator
    const Deflator& deflation;  ///< of the system
    /// Adds to x what the deflation solves for.
    bool correct(const typename High::Vector& r, typename High::Vector& z, typename High::Vector& x) const {
        if constexpr (std::is_same_v<Deflator, NoDeflation>) return false;
        A.apply_adjoint(high, r, z);
        return deflation.correct(high, z, x);
    }
    /// A^+ r, deflated, in z.
    const typename High::Vector& gradient(const typename High::Vector& r, typename High::Vector& z) const {
        A.apply_adjoint(high, r, z);
        deflation.project(high, z);
        return z;
    }
    /// p.(t), t = A^+ A p
    double product(const typename Low::Vector& p, typename Low::Vector& q, typename Low::Vector& t) const {
        return low.norm2(square(p, q, t).image);
    }
    /// The same as a Square.
    Square<typename Low::Vector> square(const typename Low::Vector& p, typename Low::Vector& q, typename Low::Vector& t) const {
        a.apply(low, p, q);
        a.apply_adjoint(low, q, t);
        return {q, 0};
    }
    /// Counts iterations that were executed without a call.
    void applied(int iterations) const
        requires requires { a.applied(2); }
    {
        a.applied(2 * iterations);
    }
};

/// Finds x with |b - A x| <= rtol |b|, from the x that is given, by conjugate gradients on A^+ A x = A^+ b with the low operator `a`.
/// Also ends as stagnated where A^+ r vanishes and r does not: A is singular. With a deflation the iteration solves the projected system
/// P A^+ A x = P A^+ r, and every update solves for the rest: convergence is that of the spectrum without the deflated eigenvalues.
/// Per iteration: A, A^+; vectors read or written: norm 1, step 6, dot 2 (low precision alone), direction 3 = 12; an update: A, A^+, and
/// vectors of the high precision: convert 1, x 3, r 3, norms 2, convert 1 = 10.
template <class High, class HighOperator, class Low, class LowOperator, class Convert, class Deflator = NoDeflation>
SolveLog reliable_cg(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert,
                     const typename High::Vector& b, typename High::Vector& x, const ReliableWorkspace<High, Low>& work,
                     const Options& options = {}, double delta = 0.1, const Deflator& deflation = {}) {
    return reliable_conjugate_gradients(high, A, low, convert,
                                        NormalEquations<High, HighOperator, Low, LowOperator, Deflator>{high, A, low, a, deflation}, b, x,
                                        work, options, delta);
}

/// The form of reliable_hermitian_cg.
template <class High, class Low, class LowOperator>
struct HermitianForm {
    Low& low;              ///< algebra of the low precision
    const LowOperator& a;  ///< its operator
    /// There is no deflation.
    bool correct(const typename High::Vector&, typename High::Vector&, typename High::Vector&) const { return false; }
    /// r itself.
    const typename High::Vector& gradient(const typename High::Vector& r, typename High::Vector&) const { return r; }
    /// p.(t), t = A p
    double product(const typename Low::Vector& p, typename Low::Vector&, typename Low::Vector& t) const { return a.apply_dot(low, p, t); }
    /// The same as a Square.
    auto square(const typename Low::Vector& p, typename Low::Vector&, typename Low::Vector& t) const
        requires requires { a.apply_square(low, p, t); }
    {
        return a.apply_square(low, p, t);
    }
};

/// Finds x with |b - A x| <= rtol |b|, from the x that is given, for Hermitian positive definite A, with the low operator `a`, whose
/// apply_dot(algebra, in, out) -> double computes out = a in and returns in.out. It may have apply_square, too (resident_cg.hpp).
/// Per iteration: A; vectors read or written: step 6, dot 2 (low precision alone), direction 3 = 11, and what apply_dot takes for its
/// product; an update: A, and vectors of the high precision: convert 1, x 3, r 3, norms 2, convert 1 = 10.
template <class High, class HighOperator, class Low, class LowOperator, class Convert>
SolveLog reliable_hermitian_cg(High& high, const HighOperator& A, Low& low, const LowOperator& a, const Convert& convert,
                               const typename High::Vector& b, typename High::Vector& x, const ReliableWorkspace<High, Low>& work,
                               const Options& options = {}, double delta = 0.1) {
    return reliable_conjugate_gradients(high, A, low, convert, HermitianForm<High, Low, LowOperator>{low, a}, b, x, work, options, delta);
}

}  // namespace kasane::krylov
