// The end of a run of iterations, as far as the norm of the residual decides it. Host and device code: where scalars stay on a device, it
// takes these decisions there, the same ones as on the host.
#pragma once

#include <kasane/krylov/watch.hpp>

#include <algorithm>

namespace kasane::krylov {

/// A residual that falls too slowly (StagnationTest::slow) ends a run, too:
enum class SlowEnds {
    never,        ///< not at all
    always,       ///< whatever its size
    below_first,  ///< where the residual is smaller than at the start of the run
};

/// From the start of a run to its end; norms of the recurrence's residual.
struct IterationCourse {
    double target;              ///< ends the run
    double first;               ///< at the start of the run
    double delta;               ///< a residual below `first` and below delta times the largest of the run ends it; 0: it does not
    SlowEnds slow;              ///< see there
    StagnationTest stagnation;  ///< of the recurrence; may have started before the run
    double largest;             ///< of the run
    bool stagnated = false;     ///< the run ended because the residual no longer falls

    /// @param first_norm  at the start of the run
    IterationCourse(double target_norm, double first_norm, const StagnationTest& test, SlowEnds slow_ends = SlowEnds::never,
                    double due_at = 0)
        : target(target_norm), first(first_norm), delta(due_at), slow(slow_ends), stagnation(test), largest(first_norm) {}

    /// Whether an iteration follows.
    KS_FN bool goes_on(double norm) const {
        if (stagnated || !(norm > target)) return false;
        if (slow == SlowEnds::always && stagnation.slow()) return false;
        return !(norm < first && (norm < delta * largest || (slow == SlowEnds::below_first && stagnation.slow())));
    }
    /// The norm that ends the run, as far as it is known.
    double end_norm() const { return std::max(target, std::min(first, delta * largest)); }
    /// To be called after every iteration of a sound recurrence.
    KS_FN void take(double norm) {
        stagnated = stagnation.stagnated(norm);
        if (largest < norm) largest = norm;
    }
};

}  // namespace kasane::krylov
