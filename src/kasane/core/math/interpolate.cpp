#include <kasane/core/base/error.hpp>
#include <kasane/core/math/interpolate.hpp>

#include <algorithm>
#include <cmath>

namespace kasane {

UniformHermite::UniformHermite(double first, double step, const std::vector<double>& values, const std::vector<double>& slopes)
    : first_(first), step_(step) {
    KS_EXPECT(values.size() >= 2 && values.size() == slopes.size() && step > 0);
    node_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) node_.push_back({values[i], slopes[i] * step});
}

std::vector<double> monotone_slopes(const std::vector<double>& values, double step) {
    const auto n = values.size();
    KS_EXPECT(n >= 2 && step > 0);
    const auto secant = [&](std::size_t i) { return (values[i + 1] - values[i]) / step; };
    std::vector<double> slopes(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (n == 2) {
            slopes[i] = secant(0);
        } else if (i == 0) {
            slopes[i] = (3 * secant(0) - secant(1)) / 2;
        } else if (i == n - 1) {
            slopes[i] = (3 * secant(n - 2) - secant(n - 3)) / 2;
        } else if (i == 1 || i == n - 2) {
            slopes[i] = (secant(i - 1) + secant(i)) / 2;
        } else {
            slopes[i] = (8 * (values[i + 1] - values[i - 1]) - (values[i + 2] - values[i - 2])) / (12 * step);
        }
        const double before = secant(i == 0 ? 0 : i - 1), behind = secant(i == n - 1 ? n - 2 : i);
        if (before * behind <= 0) {
            slopes[i] = 0;
        } else {
            // A cubic is monotone in a cell where its end slopes lie within 0 to 3 times the smaller secant (Fritsch & Carlson 1980).
            const double limit = 3 * std::min(std::abs(before), std::abs(behind));
            slopes[i] = std::copysign(std::clamp(std::copysign(1., before) * slopes[i], 0., limit), before);
        }
    }
    return slopes;
}

}  // namespace kasane
