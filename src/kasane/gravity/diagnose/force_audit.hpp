// The error of accelerations in three numbers.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <vector>

namespace kasane::gravity {

/// Relative errors |a - a_ref| / |a_ref| of the accelerations of `count` particles; where a_ref = 0, |a| itself.
struct ForceAudit {
    index_t count = 0;
    double median = 0, p99 = 0, max = 0;
};

/// @param found, exact  [count], as many of one as of the other
ForceAudit audit(const std::vector<Vec3<double>>& found, const std::vector<Vec3<double>>& exact);

}  // namespace kasane::gravity
