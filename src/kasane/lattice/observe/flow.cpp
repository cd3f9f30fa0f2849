#include <kasane/core/base/error.hpp>
#include <kasane/lattice/observe/flow.body.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kasane::lattice {

void check_flow(double t_max, double step, int every) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool good, const char* key, std::string message) {
        if (!good) problems.push_back({std::move(message), {"", 0, 0, key}});
    };
    require(step > 0 && std::isfinite(step), "step", fmt::format("is {}: the step of the Wilson flow must be finite and above 0", step));
    require(t_max >= 0 && std::isfinite(t_max), "t_max", fmt::format("is {}: the flow time must be finite and 0 or above", t_max));
    require(every >= 1, "every", fmt::format("is {}: points are at least one step apart", every));
    require(!problems.empty() || t_max / step < 1e9, "step",
            fmt::format("is {}, a thousand millionth of t_max = {} or less: take longer steps", step, t_max));
    if (!problems.empty()) throw InputError(std::move(problems));
}

double flow_scale_t0(const std::vector<FlowPoint>& points) {
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto &a = points[i - 1], &b = points[i];
        if (a.t2E < 0.3 && b.t2E >= 0.3) return a.t + (0.3 - a.t2E) / (b.t2E - a.t2E) * (b.t - a.t);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kasane::lattice
