// Upper bounds of the acceleration and potential of all sources at one target: the scales of the fixed-point sums. Host and device.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>

namespace kasane::gravity::detail {

/// Without softening there is no bound. Sums beyond this one, of pairs far closer than the mean distance of particles, are rounded.
inline constexpr double unsoftened_reach = 1099511627776.0;  // 2^40

/// On CUDA devices the extent in these bounds is at most this number of median distances of the sampled particles from the origin. Where a
/// few particles are at 10^6 distances, a bound from their distance would be below the accelerations of all others, whose integers
/// overflow. (Sums on the CPU have no such limit.)
inline constexpr double most_extent = 1024;

/// Clamps a bound to the range where fixed-point scales are normal numbers; the bound may be zero or NaN.
KS_FN double usable_bound(double bound) { return fmin(fmax(bound, 1e-200), 1e200); }

/// Bound of accelerations without G [mass / length^2]. With softening one pair has at most m 2/(3 sqrt 3) / eps^2, at the distance
/// eps / sqrt 2; without softening the bound is 2^40 m / extent^2.
KS_FN double acceleration_bound(double mass, double extent, double softening) {
    if (softening > 0) return usable_bound(0.3849001794597505 * mass / softening / softening);
    const double scale = extent > 0 ? extent : 1.0;
    return usable_bound(unsoftened_reach * mass / scale / scale);
}
/// Bound of potentials without G [mass / length]: m / eps, or 2^40 m / extent without softening.
KS_FN double potential_bound(double mass, double extent, double softening) {
    return usable_bound(softening > 0 ? mass / softening : unsoftened_reach * mass / (extent > 0 ? extent : 1.0));
}

/// The lower of the bounds with and without softening. With a softening far below the extent no pair comes as close as the softening, and
/// the bound with softening would make the sums coarse.
KS_FN double lower_acceleration_bound(double mass, double extent, double softening) {
    return fmin(acceleration_bound(mass, extent, softening), acceleration_bound(mass, extent, 0));
}
KS_FN double lower_potential_bound(double mass, double extent, double softening) {
    return fmin(potential_bound(mass, extent, softening), potential_bound(mass, extent, 0));
}

}  // namespace kasane::gravity::detail
