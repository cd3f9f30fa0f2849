#include <kasane/core/base/error.hpp>
#include <kasane/gravity/diagnose/force_audit.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

ForceAudit audit(const std::vector<Vec3<double>>& found, const std::vector<Vec3<double>>& exact) {
    KS_EXPECT(found.size() == exact.size());
    ForceAudit result;
    result.count = static_cast<index_t>(found.size());
    if (found.empty()) return result;
    std::vector<double> error;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const auto difference = found[k] - exact[k];
        const double size = std::sqrt(dot(exact[k], exact[k]));
        error.push_back(std::sqrt(dot(difference, difference)) / (size > 0 ? size : 1));
    }
    std::sort(error.begin(), error.end());
    const auto quantile = [&](double q) { return error[static_cast<std::size_t>(std::ceil(q * static_cast<double>(error.size()))) - 1]; };
    result.median = quantile(0.5);
    result.p99 = quantile(0.99);
    result.max = error.back();
    return result;
}

}  // namespace kasane::gravity
