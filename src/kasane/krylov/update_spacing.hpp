// When methods with reliable updates (reliable.hpp, reliable_columns.hpp) make the next one, and when updates no longer help.
#pragma once

#include <kasane/krylov/iteration_course.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::krylov {

/// Interval of updates, as the factors by which the residual may fall: longer as long as recurrence and true residual agree, else shorter.
class Spacing {
   public:
    /// @param agreement  relative difference of recurrence and true residual that costs no iterations
    Spacing(const UpdateFactors& first, double agreement) : factors_(first), agreement_(agreement) {}
    /// The factor by which the residual may fall.
    double delta() const { return factors_.factor; }
    /// This one, and that of early iterations.
    const UpdateFactors& factors() const { return factors_; }
    /// Adapts the interval after an update. @param claimed  norm of the recurrence's residual   @param found  norm of the true residual
    void learn(double claimed, double found) {
        const double apart = std::abs(found / claimed - 1);
        auto& [factor, early] = factors_;
        if (apart < agreement_) factor = std::max(0.5 * factor, std::min(factor, 0.01)), early = std::min(early, factor);
        if (!(apart < 3 * agreement_)) factor = early = std::min(2 * factor, most);
        poor_ = !(apart < 10 * agreement_) && factor == most ? poor_ + 1 : 0;
    }
    /// Whether recurrence and true residual do not agree although updates are as frequent as possible: the precision is too low.
    bool hopeless() const { return poor_ >= 3; }

   private:
    static constexpr double most = 0.5;
    UpdateFactors factors_;
    double agreement_;
    int poor_ = 0;
};

/// Detects updates that reduce the true residual less than the residual of the recurrence indicates.
class Progress {
   public:
    /// Returns true where updates no longer help. @param before, now  true residuals at two updates   @param claimed  the recurrence's
    /// residual at the second one
    bool lost(double before, double now, double claimed) {
        fruitless_ = now > 0.5 * before && now > 2 * claimed ? fruitless_ + 1 : 0;
        return fruitless_ >= 3;
    }

   private:
    int fruitless_ = 0;
};

/// Limits the new starts of a recurrence with reliable updates.
class NewStarts {
   public:
    /// @param norm  of the residual at the first start
    explicit NewStarts(double norm) : started_at_(norm) {}
    /// Called where the recurrence cannot go on; returns whether it may start again: not after three starts that did not halve the
    /// residual, and not after its second breakdown, where another precision or method is faster.
    /// @param norm  of the true residual   @param broken  a quantity of the recurrence vanished
    bool allow(double norm, bool broken) {
        fruitless_ = norm <= 0.5 * started_at_ ? 0 : fruitless_ + 1;
        started_at_ = norm;
        if (broken) ++breakdowns_;
        return fruitless_ < 3 && breakdowns_ < 2;
    }

   private:
    double started_at_;
    int fruitless_ = 0, breakdowns_ = 0;
};

}  // namespace kasane::krylov
