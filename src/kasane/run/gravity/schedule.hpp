// The steps at which diagnostics and snapshots are due. Times are converted to step numbers, so that rounding errors do not accumulate and
// a resumed run has its events at the same steps as an uninterrupted one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kasane::run {

struct Schedule {
    double start = 0;              ///< time of step 0
    double dt = 0;                 ///< above 0
    double until = 0;              ///< the last step is the one nearest to it
    double snapshot_every = 0;     ///< [time], at least dt
    double diagnostics_every = 0;  ///< [time], at least dt

    double time(std::int64_t step) const { return start + static_cast<double>(step) * dt; }
    std::int64_t last() const { return nearest(until - start); }

    /// The step of the k-th event of a kind (the 0-th is at the start).
    std::int64_t step_of(double every, std::int64_t k) const { return std::min(nearest(static_cast<double>(k) * every), last()); }
    /// The number of events of a kind up to a step, without the one at the start.
    std::int64_t events_until(double every, std::int64_t step) const {
        auto k = static_cast<std::int64_t>(static_cast<double>(step) * dt / every);
        while (k > 0 && nearest(static_cast<double>(k) * every) > step) --k;
        while (nearest(static_cast<double>(k + 1) * every) <= step) ++k;
        return k;
    }
    /// Whether this step is at a multiple of the interval.
    bool regular(double every, std::int64_t step) const { return nearest(static_cast<double>(events_until(every, step)) * every) == step; }
    /// Whether an event of this kind is due at this step. At the start and at the end all kinds are due.
    bool due(double every, std::int64_t step) const { return step == 0 || step == last() || regular(every, step); }
    /// The first step after `step` with an event of this kind.
    std::int64_t next(double every, std::int64_t step) const { return step_of(every, events_until(every, step) + 1); }
    /// Number of the snapshot that belongs to a step at which one is due.
    std::int64_t snapshot_number(std::int64_t step) const {
        const auto k = events_until(snapshot_every, step);
        return regular(snapshot_every, step) ? k : k + 1;  // the one at the end, between two regular times
    }

   private:
    std::int64_t nearest(double time) const {
        constexpr double most = 9e18;  // below the largest step number; intervals may be longer than the run
        return static_cast<std::int64_t>(std::llround(std::min(time / dt, most)));
    }
};

}  // namespace kasane::run
