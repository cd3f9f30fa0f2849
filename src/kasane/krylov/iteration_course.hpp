// Decides from the norm of the residual when a run of iterations ends. Host and device code: where the scalars stay on a device, the device
// takes the same decisions as the host.
#pragma once

#include <kasane/krylov/watch.hpp>

#include <algorithm>

namespace kasane::krylov {

/// When a residual that falls too slowly (StagnationTest::slow) ends a run.
enum class SlowEnds {
    never,        ///< not at all
    always,       ///< whatever its size
    below_first,  ///< where the residual is smaller than at the start of the run
};

/// When an update of the true residual is due: the residual has become smaller than a factor times its largest of the run.
struct UpdateFactors {
    static constexpr int early_iterations = 24;  ///< of a run
    double factor;                               ///< 0: never
    double early;                                ///< in the early iterations: smaller, because updates cost most where a solve is short

    KS_FN UpdateFactors(double always) : factor(always), early(always) {}
    KS_FN UpdateFactors(double later, double at_first) : factor(later), early(at_first) {}
};

/// Course of a run from its start to its end; all norms are those of the recurrence's residual.
struct IterationCourse {
    double target;              ///< a residual up to it ends the run
    double first;               ///< norm at the start of the run
    UpdateFactors update;       ///< a residual below `first` for which an update is due ends the run
    SlowEnds slow;              ///< whether a slow residual ends the run
    StagnationTest stagnation;  ///< of the recurrence; may have started before the run
    double largest;             ///< largest norm of the run so far
    int iterations = 0;         ///< of the run so far
    bool stagnated = false;     ///< the run ended because the residual no longer falls

    /// @param first_norm  at the start of the run
    IterationCourse(double target_norm, double first_norm, const StagnationTest& test, SlowEnds slow_ends = SlowEnds::never,
                    const UpdateFactors& factors = 0)
        : target(target_norm), first(first_norm), update(factors), slow(slow_ends), stagnation(test), largest(first_norm) {}

    /// Whether an iteration follows.
    KS_FN bool goes_on(double norm) const {
        if (stagnated || !(norm > target)) return false;
        if (slow == SlowEnds::always && stagnation.slow()) return false;
        return !(norm < first && (norm < delta() * largest || (slow == SlowEnds::below_first && stagnation.slow())));
    }
    /// Norm that ends the run, from the norms so far.
    double end_norm() const { return std::max(target, std::min(first, delta() * largest)); }
    /// Takes the norm after an iteration that did not break down.
    KS_FN void take(double norm) {
        stagnated = stagnation.stagnated(norm);
        if (largest < norm) largest = norm;
        ++iterations;
    }

   private:
    KS_FN double delta() const { return iterations < UpdateFactors::early_iterations ? update.early : update.factor; }
};

}  // namespace kasane::krylov
