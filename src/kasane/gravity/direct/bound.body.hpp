// What the sizes of all contributions to one target can add up to, from which the quanta of binned sums follow; host and device.
// As DirectFrame (frame.hpp) has it, for a frame that a kernel finds on the device.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>

namespace kasane::gravity::detail {

/// Without softening there is no bound: sums beyond this, of pairs far closer than the particles' mean distance, are ordinary ones.
inline constexpr double unsoftened_reach = 1099511627776.0;  // 2^40

/// Of a sum that may be zero, or no number: something that quanta can be made of.
KS_FN double usable_bound(double bound) { return fmin(fmax(bound, 1e-200), 1e200); }

/// Of accelerations without G [mass / length^2]: a pair's is at most m 2/(3 sqrt 3) / eps^2. One far below the extent counts as none.
KS_FN double acceleration_bound(double mass, double extent, double softening) {
    const double scale = extent > 0 ? extent : 1.0, unsoftened = unsoftened_reach * mass / scale / scale;
    return usable_bound(softening > 0 ? fmin(0.3849001794597505 * mass / softening / softening, unsoftened) : unsoftened);
}
KS_FN double potential_bound(double mass, double extent, double softening) {
    const double unsoftened = unsoftened_reach * mass / (extent > 0 ? extent : 1.0);
    return usable_bound(softening > 0 ? fmin(mass / softening, unsoftened) : unsoftened);
}

}  // namespace kasane::gravity::detail
