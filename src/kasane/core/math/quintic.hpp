// Piecewise quintic Hermite interpolation on a uniform grid from values, slopes and curvatures: constant-time look-up, twice
// continuously differentiable. Error h^6/46080 max|f''''''|; slopes and curvatures keep their relative precision where they are tiny.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace kasane {

/// A function and its first two derivatives.
struct ValueAndDerivatives {
    double value, d, dd;
};

class UniformQuintic {
   public:
    UniformQuintic() = default;
    /// @param values, slopes, curvatures  f, f', f'' at first, first + step, ..., at least 2 of them
    /// @param noise  absolute error of the values, at least their rounding: differences below it are taken from the slopes
    UniformQuintic(double first, double step, const std::vector<double>& values, const std::vector<double>& slopes,
                   const std::vector<double>& curvatures, double noise = 0);

    /// Value and derivatives at x; the interpolant is linear beyond the ends.
    ValueAndDerivatives operator()(double x) const {
        const double t = (x - first_) / step_;
        if (!(t >= 0)) return {front_.value + front_.d * (x - first_), front_.d, 0};
        const auto cells = cell_.size();
        if (t > static_cast<double>(cells)) return {back_.value + back_.d * (x - last()), back_.d, 0};
        auto i = static_cast<std::size_t>(t);
        if (i == cells) --i;
        const double s = t - static_cast<double>(i);
        const auto& c = cell_[i];
        const double value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))));
        const double d = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])));
        const double dd = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]));
        return {value, d / step_, dd / (step_ * step_)};
    }

    double first() const { return first_; }
    double last() const { return first_ + step_ * static_cast<double>(cell_.size()); }

   private:
    double first_ = 0, step_ = 1;
    ValueAndDerivatives front_{}, back_{};
    std::vector<std::array<double, 6>> cell_;  // coefficients of a polynomial of 0 <= s <= 1
};

}  // namespace kasane
