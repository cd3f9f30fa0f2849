// A few iterations of BiCGStab in a low precision as the flexible preconditioner of a method in a higher one. As the preconditioner of
// bicgstab() it gives nested BiCGStab [Sakurai & Tadano; Ish09, slide 16]: an outer iteration has two inner solves, each of which reduces
// the residual by its tolerance, so that two or three of 1e-4 give 1e-10.
// Invariants: out is always finite and has no larger residual than zero for the low operator; every iteration is counted as an inner one;
// an inner solve that does not even halve its residual ends the outer method as a breakdown.
#pragma once

#include <kasane/krylov/bicgstab.hpp>

#include <algorithm>

namespace kasane::krylov {

/// Flexible preconditioner: an approximate solve in a low precision.
template <class Low, class LowOperator, class Convert>
class InnerBicgstab {
   public:
    using Vector = typename Low::Vector;  ///< of the low precision

    /// @param low        algebra of the low precision
    /// @param A          operator in the low precision
    /// @param convert    copies vectors between the precisions
    /// @param work       vectors of the low precision
    /// @param y          vector of the low precision
    /// @param tolerance  of an inner solve, relative; larger where the outer method needs less
    InnerBicgstab(Low& low, const LowOperator& A, Convert convert, BicgstabWorkspace<Low>& work, Vector& y, double tolerance)
        : low_(low), A_(A), convert_(convert), work_(work), y_(y), tolerance_(tolerance) {}

    /// out = A^-1 in, approximately. @param watch  of the outer method   @param enough  a residual of this norm would end the outer method
    template <class High>
    void apply(High& high, const typename High::Vector& in, typename High::Vector& out, Watch& watch, double enough) {
        constexpr int most_starts = 2;
        convert_(in, work_.r);
        double norm = std::sqrt(low_.norm2(work_.r)), unit = 1;
        if (!(norm > 1e-12 && norm < 1e12)) {  // squares of floats would leave their range
            const double true_norm = std::sqrt(high.norm2(in));
            if (!(true_norm > 0) || !std::isfinite(true_norm)) return high.copy(in, out);
            unit = std::ldexp(1., -std::ilogb(true_norm));
            high.axpby(unit, in, 0, out);
            convert_(out, work_.r);
            norm = std::sqrt(low_.norm2(work_.r));
        }
        low_.zero(y_);
        // Rounding would lift a residual that is just small enough here slightly above the tolerance of the outer method.
        const double target = std::max(tolerance_ * norm, 0.3 * enough * unit);
        BicgstabRecurrence<Low> it(low_, work_);
        double now = norm;
        for (int start = 0; start < most_starts && now > std::max(target, 0.5 * norm) && !watch.ended(); ++start) {
            it.start(now);
            IterationCourse course(target, now, StagnationTest(watch.options().inner_stagnation_limit, now), SlowEnds::always);
            it.iterate(A_, y_, course, {.watch = watch, .inside = true, .unit = unit});
            now = it.norm();
            if (!std::isfinite(now)) break;
        }
        const bool finite = std::isfinite(low_.norm2(y_));
        if (!watch.ended() && (!finite || !(now <= std::max(0.5 * norm, target)))) {
            watch.note("the inner BiCGStab gains nothing");
            watch.end(Outcome::breakdown);
        }
        if (!finite || !(now < norm)) return high.copy(in, out);
        convert_(y_, out);
        if (unit != 1) high.axpby(0, in, 1 / unit, out);
    }

   private:
    Low& low_;
    const LowOperator& A_;
    Convert convert_;
    BicgstabWorkspace<Low>& work_;
    Vector& y_;
    double tolerance_;
};

}  // namespace kasane::krylov
