// The time grid of one macro step and its levels. A step on level k takes dt_max / 2^k and begins at a multiple of its length.
// Invariant: a particle's time is the last multiple of its step, so its level and the time of the system determine it.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <cstdint>

namespace kasane::gravity {

/// Number of levels (0 ... 30). Times are counted in ticks of dt_max / 2^deepest and fit into 32 bits.
inline constexpr int most_levels = 31;

struct TimeGrid {
    double dt_max = 0;
    int deepest = 0;

    /// Ticks of one step on a level.
    KS_FN std::uint32_t ticks(int level) const { return 1u << (deepest - level); }
    KS_FN std::uint32_t end() const { return 1u << deepest; }
    /// Duration of a number of ticks [time].
    KS_FN double time(std::uint32_t ticks) const { return dt_max * (static_cast<double>(ticks) / static_cast<double>(end())); }

    /// The last time <= now at which a step of this level began.
    KS_FN std::uint32_t begin(int level, std::uint32_t now) const { return now & ~(ticks(level) - 1); }
    /// The first time after now at which a step of this level ends.
    KS_FN std::uint32_t next(int level, std::uint32_t now) const { return begin(level, now) + ticks(level); }
    /// The shallowest level with a step that ends at this time (above 0). Steps of all deeper levels end there too.
    KS_FN int first_ending(std::uint32_t time) const {
        int level = deepest;
        while (level > 0 && time % ticks(level - 1) == 0) --level;
        return level;
    }

    /// The shallowest level whose step is at most dt; deepest + 1 if there is none; 0 if dt is NaN.
    KS_FN int wanted(double dt) const {
        const double ratio = std::fabs(dt_max) / dt;
        if (!(ratio > 1)) return 0;
        if (ratio > static_cast<double>(end())) return deepest + 1;
        const int exponent = std::ilogb(ratio);
        return std::ldexp(1.0, exponent) < ratio ? exponent + 1 : exponent;
    }

    /// Level of the step that begins at `time`, where a step of `level` ends: deeper at once, one level shallower where the grid allows it.
    KS_FN int after(int level, int required, std::uint32_t time) const {
        if (required > level) return required < deepest ? required : deepest;
        return required < level && time % ticks(level - 1) == 0 ? level - 1 : level;
    }
    /// The same for a step that all particles share: it may become shallower by any number of levels that the grid allows.
    KS_FN int after_shared(int level, int required, std::uint32_t time) const {
        int to = required < deepest ? required : deepest;
        while (to < level && time % ticks(to) != 0) ++to;
        return to;
    }
};

/// Step criterion: dt = eta sqrt(length / |a|); with `velocity`, at most eta length / |v| (Miki & Umemura 2017).
struct StepRule {
    double eta = 0.5;
    double length = 0;  ///< eps, or the length that replaces it [length]
    bool velocity = true;

    KS_FN double dt(double speed2, double acceleration2) const {
        constexpr double unlimited = 1e300;
        double dt2 = acceleration2 > 0 ? eta * eta * length / std::sqrt(acceleration2) : unlimited;
        if (velocity && speed2 * dt2 > eta * eta * length * length) dt2 = eta * eta * length * length / speed2;
        return std::sqrt(dt2);
    }
    /// The same for a particle with a softening of its own. If that is 0, `length` replaces it and the velocity is not used.
    KS_FN double dt(double speed2, double acceleration2, double softening) const {
        return StepRule{eta, softening > 0 ? softening : length, velocity && softening > 0}.dt(speed2, acceleration2);
    }
};

}  // namespace kasane::gravity
