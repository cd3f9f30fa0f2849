// Errors of accelerations against a reference: median, 99th percentile and maximum.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <vector>

namespace kasane::gravity {

/// Statistics of the errors |a - a_ref| / |a_ref| of the accelerations of `count` particles; |a| itself where a_ref = 0. A quantile is the
/// smallest error that is not exceeded by that fraction of the particles.
struct ForceAudit {
    index_t count = 0;  ///< particles compared; 0: the errors are 0
    double median = 0;  ///< half of the errors are this or less
    double p99 = 0;     ///< 99% of the errors are this or less
    double max = 0;     ///< largest error
};

/// Compares accelerations with a reference.
/// @param found  [count] accelerations to judge [length / time^2]
/// @param exact  [count] reference [length / time^2]
ForceAudit audit(const std::vector<Vec3<double>>& found, const std::vector<Vec3<double>>& exact);

}  // namespace kasane::gravity
