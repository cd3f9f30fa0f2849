// The inner loop of conjugate gradients with reliable updates (reliable.hpp): its scalars and decisions. They are on the host, or where the
// vectors are, as in resident_bicgstab.hpp. Host and device code.
//
// An algebra with such iterations has resident_cg(), whose result has
//     State                                  CgState
//     begin(state)                           starts a run; no other run is in progress
//     direction(s, p)                        p = s + beta p; nothing in the first iteration
//     curvature(image, shift, p)             |image|^2 + shift |p|^2
//     step(p, t, y, s)                       y += alpha p, s -= alpha t
//     along(s, t)                            in a low precision
//     iterate(submit)                        executes one iteration: what submit() submits, the same in every iteration of a run
//     wait(iteration) -> RunReport           after that iteration of the run (1, 2, ...), or after the last one of a run that has ended
//     state() -> State                       after all work of the run
#pragma once

#include <kasane/krylov/watch.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::krylov {

/// Course from one update to the next. Between updates |r| is assumed to shrink as |s| does, so that `claimed` is |r|.
struct CgCourse {
    double target;              ///< ends the run
    double first;               ///< |r| at the update
    double delta;               ///< a residual below `first` and below delta times the largest of the run ends it
    bool low;                   ///< the precision is low: Polak & Ribiere's coefficient, and a limit of iterations without an update
    int update_after;           ///< that limit
    double r_per_s;             ///< |r| / |s|
    StagnationTest stagnation;  ///< of the run
    double s2;                  ///< |s|^2
    double claimed;             ///< |r|
    double largest;             ///< of the run
    double before = 0;          ///< |s|^2 of the last iteration
    double alpha = 0;           ///< step along p
    double along_new = 0;       ///< s'.(s' - s), or s'.s'
    int iterations = 0;         ///< of the run
    bool fresh = false;         ///< the run ended, and the next direction must be s

    /// Whether an iteration follows.
    KS_FN bool goes_on() const {
        return claimed > target && !((claimed < delta * largest && claimed < first) || (low && iterations > update_after));
    }
    /// Norm that ends the run, from the norms so far.
    double end_norm() const { return std::max(target, std::min(first, delta * largest)); }
    /// Takes p.A p; returns false if the run ends.
    KS_FN bool take_curvature(double curvature) {
        fresh = !(curvature > 1e-30 * s2) || !(curvature <= 1.7e308);
        if (fresh) return false;
        before = s2;
        alpha = s2 / curvature;
        return true;
    }
    /// Takes |s|^2 after the step.
    KS_FN void take_step(double square) {
        s2 = along_new = square;
        if (!low) finish();
    }
    /// Takes Re s.t after the step, in a low precision: the part of the old s that rounding leaves in the new one does not count as
    /// progress.
    KS_FN void take_along(double s_t) {
        const double product = -alpha * s_t;
        if (product > 0) along_new = product;
        finish();
    }
    /// Factor of the old direction in the next one.
    KS_FN double beta() const { return along_new / before; }

   private:
    KS_FN void finish() {
        claimed = r_per_s * sqrt(s2);
        if (largest < claimed) largest = claimed;
        fresh = stagnation.stagnated(claimed);
        if (!fresh) ++iterations;
    }
};

/// Course and place of a run with resident scalars. Its functions return whether the host must receive the state.
struct CgState {
    CgCourse course;     ///< of the run
    int iterations = 0;  ///< number of iterations that were started
    bool ended = false;  ///< operations no longer have an effect

    /// Whether operations still have an effect.
    KS_FN bool active() const { return !ended; }
    /// |r|
    KS_FN double norm() const { return course.claimed; }
    /// Takes p.A p.
    KS_FN bool take_curvature(double curvature) {
        ++iterations;
        ended = !course.take_curvature(curvature);
        return ended;
    }
    /// Takes |s|^2 after the step.
    KS_FN bool take_step(double square) {
        course.take_step(square);
        return !course.low && finish();
    }
    /// Takes Re s.t after the step.
    KS_FN bool take_along(double s_t) {
        course.take_along(s_t);
        return finish();
    }

   private:
    KS_FN bool finish() {
        ended = course.fresh || !course.goes_on();
        return true;
    }
};

/// in.A in = |image|^2 + shift |in|^2 of an operator A = B^+ B + shift with image = B in. The operator's apply_square(algebra, in, out)
/// returns it.
template <class Vector>
struct Square {
    const Vector& image;  ///< B in
    double shift;         ///< not negative
};

}  // namespace kasane::krylov
