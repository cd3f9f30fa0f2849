// The natural cubic spline through data on any ascending abscissas: twice continuously differentiable, straight beyond its ends.
#pragma once

#include <vector>

namespace kasane {

class CubicSpline {
   public:
    CubicSpline() = default;
    /// @param x  strictly ascending, at least 2   @param y  as many
    CubicSpline(std::vector<double> x, const std::vector<double>& y);

    /// The value and its derivatives; the third jumps at the data.
    struct At {
        double value, d, dd, ddd;
    };
    At operator()(double x) const;

    const std::vector<double>& knots() const { return x_; }

   private:
    struct Cubic {
        double value, d, half_dd, sixth_ddd;  // at its left knot
    };
    std::vector<double> x_;
    std::vector<Cubic> cubic_;  // one per knot; the last one is straight
};

}  // namespace kasane
