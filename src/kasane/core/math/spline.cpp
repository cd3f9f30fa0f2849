#include <kasane/core/base/error.hpp>
#include <kasane/core/math/spline.hpp>

#include <algorithm>

namespace kasane {

CubicSpline::CubicSpline(std::vector<double> x, const std::vector<double>& y) : x_(std::move(x)), cubic_(x_.size()) {
    KS_EXPECT(x_.size() >= 2 && y.size() == x_.size());
    const auto n = x_.size();
    const auto width = [&](std::size_t i) { return x_[i + 1] - x_[i]; };
    const auto chord = [&](std::size_t i) { return (y[i + 1] - y[i]) / width(i); };
    // Second derivatives m: h0 m0 + 2 (h0 + h1) m1 + h1 m2 = 6 (chord1 - chord0), none at the ends; a sweep down and one up.
    std::vector<double> m(n, 0.), share(n, 0.);
    for (std::size_t i = 1; i + 1 < n; ++i) {
        const double pivot = 2 * (width(i - 1) + width(i)) - width(i - 1) * share[i - 1];
        share[i] = width(i) / pivot;
        m[i] = (6 * (chord(i) - chord(i - 1)) - width(i - 1) * m[i - 1]) / pivot;
    }
    for (std::size_t i = n - 1; i-- > 1;) m[i] -= share[i] * m[i + 1];
    for (std::size_t i = 0; i + 1 < n; ++i) {
        cubic_[i] = {y[i], chord(i) - width(i) * (2 * m[i] + m[i + 1]) / 6, m[i] / 2, (m[i + 1] - m[i]) / (6 * width(i))};
    }
    cubic_[n - 1] = {y[n - 1], chord(n - 2) + width(n - 2) * (m[n - 2] + 2 * m[n - 1]) / 6, 0, 0};
}

CubicSpline::At CubicSpline::operator()(double x) const {
    if (x < x_.front()) return {cubic_[0].value + cubic_[0].d * (x - x_[0]), cubic_[0].d, 0, 0};
    const auto i = static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin()) - 1;
    const auto& p = cubic_[i];
    const double s = x - x_[i];
    return {p.value + s * (p.d + s * (p.half_dd + s * p.sixth_ddd)), p.d + s * (2 * p.half_dd + 3 * s * p.sixth_ddd),
            2 * p.half_dd + 6 * s * p.sixth_ddd, 6 * p.sixth_ddd};
}

}  // namespace kasane
