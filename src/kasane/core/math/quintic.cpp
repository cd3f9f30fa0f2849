#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quintic.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane {

UniformQuintic::UniformQuintic(double first, double step, const std::vector<double>& values, const std::vector<double>& slopes,
                               const std::vector<double>& curvatures, double noise)
    : first_(first), step_(step), cell_(values.size() - 1) {
    KS_EXPECT(values.size() >= 2 && slopes.size() == values.size() && curvatures.size() == values.size());
    front_ = {values.front(), slopes.front(), curvatures.front()};
    back_ = {values.back(), slopes.back(), curvatures.back()};
    for (std::size_t i = 0; i < cell_.size(); ++i) {
        const double d0 = step * slopes[i], d1 = step * slopes[i + 1];
        const double c0 = step * step * curvatures[i], c1 = step * step * curvatures[i + 1];
        // Where rounding of the values dominates their difference, the slopes give it better (Hermite's rule, error h^5/720 f''''').
        const double by_slopes = (d0 + d1) / 2 + (c0 - c1) / 12;
        const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(values[i]), std::abs(values[i + 1]));
        double rise = values[i + 1] - values[i];
        if (std::abs(rise - by_slopes) <= std::max(noise, rounding)) rise = by_slopes;
        const double r0 = rise - d0 - c0 / 2, r1 = d1 - d0 - c0, r2 = c1 - c0;
        cell_[i] = {values[i], d0, c0 / 2, 10 * r0 - 4 * r1 + r2 / 2, -15 * r0 + 7 * r1 - r2, 6 * r0 - 3 * r1 + r2 / 2};
    }
}

}  // namespace kasane
