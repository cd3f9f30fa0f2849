// When methods with reliable updates (reliable.hpp, reliable_columns.hpp) make the next one, and when updates no longer help.
#pragma once

#include <algorithm>
#include <cmath>

namespace kasane::krylov {

/// Interval of updates, as the factor by which the residual may fall: longer as long as recurrence and true residual agree, else shorter.
class Spacing {
   public:
    /// @param agreement  relative difference of recurrence and true residual that costs no iterations
    Spacing(double first, double agreement) : delta_(first), agreement_(agreement) {}
    /// The factor by which the residual may fall.
    double delta() const { return delta_; }
    /// Adapts the interval after an update. @param claimed  norm of the recurrence's residual   @param found  norm of the true residual
    void learn(double claimed, double found) {
        const double apart = std::abs(found / claimed - 1);
        if (apart < agreement_) delta_ = std::max(0.5 * delta_, std::min(delta_, 0.01));
        if (!(apart < 3 * agreement_)) delta_ = std::min(2 * delta_, most);
        poor_ = !(apart < 10 * agreement_) && delta_ == most ? poor_ + 1 : 0;
    }
    /// Whether recurrence and true residual do not agree although updates are as frequent as possible: the precision is too low.
    bool hopeless() const { return poor_ >= 3; }

   private:
    static constexpr double most = 0.5;
    double delta_, agreement_;
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

}  // namespace kasane::krylov
