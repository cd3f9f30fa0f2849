#include <kasane/lattice/observe/observables.hpp>

#include <limits>

namespace kasane::lattice {

double flow_scale_t0(const std::vector<FlowPoint>& points) {
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto &a = points[i - 1], &b = points[i];
        if (a.t2E < 0.3 && b.t2E >= 0.3) return a.t + (0.3 - a.t2E) / (b.t2E - a.t2E) * (b.t - a.t);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kasane::lattice
