// A table of positive numbers as a function: the natural cubic spline of their logarithms, with power laws beyond its ends. Values are in
// units of the first row, so that no unit of the file overflows.
#pragma once

#include <kasane/core/math/spline.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>

#include <cmath>

namespace kasane::gravity {

class LogTable {
   public:
    explicit LogTable(const Table& table);

    /// The function and its slope d ln f / d ln x with two derivatives by ln x; the second derivative of the slope jumps at the rows.
    struct At {
        double f, s, ds, dds;
    };
    At operator()(double x) const {
        const auto [value, d, dd, ddd] = spline_(std::log(x));
        return {std::exp(value), d, dd, ddd};
    }

    /// Slopes of the power laws inside the first row and beyond the last one.
    double inner_slope() const { return spline_(spline_.knots().front()).d; }
    double outer_slope() const { return spline_(spline_.knots().back()).d; }
    /// The smallest distance of two rows in ln x.
    double spacing() const;

   private:
    CubicSpline spline_;
};

}  // namespace kasane::gravity
