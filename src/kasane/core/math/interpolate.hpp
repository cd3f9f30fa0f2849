// Piecewise cubic Hermite interpolation on a uniform grid: constant-time look-up, once continuously differentiable.
// With exact slopes the error is h^4/384 max|f''''|; with monotone slopes it never overshoots the data.
#pragma once

#include <kasane/core/base/types.hpp>
#include <vector>

namespace kasane {

/// Piecewise cubic interpolant on a uniform grid.
class UniformHermite {
   public:
    /// No data.
    UniformHermite() = default;
    /// @param first   abscissa of the first value   @param step  distance of the abscissas, above 0
    /// @param values  [n >= 2] f at first, first + step, ...   @param slopes  [n] df/dx there
    UniformHermite(double first, double step, const std::vector<double>& values, const std::vector<double>& slopes);

    /// The interpolant at x; linear beyond the ends.
    double operator()(double x) const {
        const auto [i, s] = locate(x);
        const auto& a = node_[i];
        const auto& b = node_[i + 1];
        if (s < 0) return a.value + s * a.rise;
        if (s > 1) return b.value + (s - 1) * b.rise;
        const double u = 1 - s, jump = b.value - a.value;
        return a.value + s * s * (3 - 2 * s) * jump + s * u * (u * a.rise - s * b.rise);
    }

    /// The x at which an increasing interpolant takes `value`; the nearer end when it is outside the range.
    double inverse(double value) const;

    /// First abscissa.
    double first() const { return first_; }
    /// Last abscissa.
    double last() const { return first_ + step_ * static_cast<double>(node_.size() - 1); }
    /// Distance of the abscissas.
    double step() const { return step_; }
    /// Number of abscissas.
    index_t size() const { return static_cast<index_t>(node_.size()); }
    /// Abscissa i.
    double at(index_t i) const { return first_ + step_ * static_cast<double>(i); }

   private:
    struct Node {
        double value, rise;  // rise: slope times step
    };
    struct Place {
        std::size_t cell;
        double s;  // 0 to 1 inside the cell
    };
    Place locate(double x) const {
        const double t = (x - first_) / step_;
        const double top = static_cast<double>(node_.size() - 2);
        const auto cell = static_cast<std::size_t>(t > 0 ? (t < top ? t : top) : 0);
        return {cell, t - static_cast<double>(cell)};
    }

    double first_ = 0, step_ = 1;
    std::vector<Node> node_;
};

/// Slopes for data on a uniform grid, fourth order inside where that keeps the interpolant monotone between its data, limited
/// otherwise.                                                         [Hyman 1983, SIAM J. Sci. Stat. Comput. 4, 645]
std::vector<double> monotone_slopes(const std::vector<double>& values, double step);

}  // namespace kasane
