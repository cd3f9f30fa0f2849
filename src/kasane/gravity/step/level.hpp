// The grid of time inside one macro step, and the levels that live on it: level k has steps dt_max / 2^k, aligned to its multiples.
// Invariant: a particle's time is the last multiple of its step, so that its level and the time of the system say everything.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <cstdint>

namespace kasane::gravity {

/// Levels 0 ... 30: times are counted in ticks of dt_max / 2^deepest, and fit into 32 bits.
inline constexpr int most_levels = 31;

struct TimeGrid {
    double dt_max = 0;
    int deepest = 0;

    /// Ticks of one step on a level.
    KS_FN std::uint32_t ticks(int level) const { return 1u << (deepest - level); }
    KS_FN std::uint32_t end() const { return 1u << deepest; }
    /// Length of so many ticks. [time]
    KS_FN double time(std::uint32_t ticks) const { return dt_max * (static_cast<double>(ticks) / static_cast<double>(end())); }

    /// The last time <= now at which a step of this level began.
    KS_FN std::uint32_t begin(int level, std::uint32_t now) const { return now & ~(ticks(level) - 1); }
    /// The first time after now at which a step of this level ends.
    KS_FN std::uint32_t next(int level, std::uint32_t now) const { return begin(level, now) + ticks(level); }
    /// The shallowest level with a step that ends at this time, above 0; those of all deeper ones end too.
    KS_FN int first_ending(std::uint32_t time) const {
        int level = deepest;
        while (level > 0 && time % ticks(level - 1) == 0) --level;
        return level;
    }

    /// The shallowest level with steps of at most dt; deepest + 1 when there is none. A dt that is no number has level 0.
    KS_FN int wanted(double dt) const {
        const double ratio = std::fabs(dt_max) / dt;
        if (!(ratio > 1)) return 0;
        if (ratio > static_cast<double>(end())) return deepest + 1;
        const int exponent = std::ilogb(ratio);
        return std::ldexp(1.0, exponent) < ratio ? exponent + 1 : exponent;
    }

    /// Level of the step that begins at `time`, where one of `level` has ended: deeper at once, one shallower where the grid allows.
    KS_FN int after(int level, int wants, std::uint32_t time) const {
        if (wants > level) return wants < deepest ? wants : deepest;
        return wants < level && time % ticks(level - 1) == 0 ? level - 1 : level;
    }
    /// The same for a step that all share: as much shallower as the grid allows.
    KS_FN int after_shared(int level, int wants, std::uint32_t time) const {
        int to = wants < deepest ? wants : deepest;
        while (to < level && time % ticks(to) != 0) ++to;
        return to;
    }
};

/// The criterion: dt = eta sqrt(length / |a|), and with velocities not above eta length / |v| (Miki & Umemura 2017).
struct StepRule {
    double eta = 0.5;
    double length = 0;  ///< eps, or what stands for it [length]
    bool velocity = true;

    KS_FN double dt(double speed2, double acceleration2) const {
        constexpr double unlimited = 1e300;
        double dt2 = acceleration2 > 0 ? eta * eta * length / std::sqrt(acceleration2) : unlimited;
        if (velocity && speed2 * dt2 > eta * eta * length * length) dt2 = eta * eta * length * length / speed2;
        return std::sqrt(dt2);
    }
};

}  // namespace kasane::gravity
