// Iterations of BiCGStab whose scalars stay where the vectors are, for example on a device: the host launches iterations and does not wait
// for their inner products. BicgstabScalars and IterationCourse compute the scalars and end the recurrence, as on the host; they run inside
// the operation that computes the sums they need. After an iteration that ends the run, later operations of the run do nothing.
//
// An algebra with such iterations has resident_bicgstab(), whose result has
//     State                                  BicgstabState
//     begin(state)                           starts a run; no other run is in progress
//     direction(r, v, p)                     p = r, or p = r + beta (p - omega v)
//     first_half(shadow, v, r)               alpha; r -= alpha v
//     second_half(p, t, shadow, x, r)        omega; x += alpha p + omega r; r -= omega t; rho
//     iterate(submit)                        executes one iteration: what submit() submits, the same in every iteration of a run
//     wait(iteration) -> RunReport           after that iteration of the run (1, 2, ...), or after the last one of a run that has ended
//     state() -> State                       after all work of the run
// Every function but the last two returns at once.
#pragma once

#include <kasane/krylov/bicgstab_scalars.hpp>
#include <kasane/krylov/iteration_course.hpp>

namespace kasane::krylov {

/// Scalars, course and place of a run. Its functions return whether the host must receive the state: after an iteration, and at the end.
template <class Scalar>
struct BicgstabState {
    /// The step that ended the run.
    enum class End {
        none,          ///< it goes on
        first,         ///< shadow.v or A p vanished: r and x are those of the start of the iteration
        lost,          ///< r -= alpha v made the residual far larger: the host undoes it
        enough,        ///< the first half was enough: the host adds alpha p to x
        second,        ///< omega vanished: the host adds alpha p to x
        rest,          ///< rho vanished, after a whole iteration
        course_ended,  ///< after a whole iteration
    };

    BicgstabScalars<Scalar> scalars;  ///< of the recurrence
    IterationCourse course;           ///< of the run
    int iterations = 0;               ///< number of iterations that were started
    End end = End::none;              ///< of the run

    /// Whether operations still have an effect.
    KS_FN bool active() const { return end == End::none; }
    /// |r|
    KS_FN double norm() const { return scalars.norm(); }
    /// Takes v.shadow and |v|^2.
    KS_FN bool take_v(Scalar v_shadow, double v2) {
        ++iterations;
        return !scalars.take_v(v_shadow, v2) && ended(End::first);
    }
    /// Takes |r|^2 after r -= alpha v.
    KS_FN bool take_half(double r2) {
        if (!scalars.take_half(r2)) return ended(End::lost);
        return scalars.is_enough(course.target) && ended(End::enough);
    }
    /// Takes t.r and |t|^2.
    KS_FN bool take_t(Scalar ts, double t2) { return !scalars.take_t(ts, t2) && ended(End::second); }
    /// Takes shadow.r and |r|^2 after a whole iteration.
    KS_FN bool take_rest(Scalar rho, double r2) {
        if (!scalars.take_rest(rho, r2)) return ended(End::rest);
        course.take(scalars.norm());
        if (!course.goes_on(scalars.norm())) end = End::course_ended;
        return true;
    }

   private:
    KS_FN bool ended(End how) {
        end = how;
        return true;
    }
};

}  // namespace kasane::krylov
