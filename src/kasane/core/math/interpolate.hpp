// Piecewise cubic Hermite interpolation on a uniform grid: constant-time look-up, once continuously differentiable.
// With exact slopes the error is h^4/384 max|f''''|; with monotone slopes it never overshoots the data.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <vector>

namespace kasane {

/// The interpolant over nodes in the memory of any space.
struct HermiteCurve {
    struct Node {
        double value, rise;  ///< rise: slope times step
    };
    double first = 0, step = 1;  ///< abscissa of the first node; distance of the abscissas
    View<const Node> node;       ///< 2 or more

    KS_FN double last() const { return first + step * static_cast<double>(node.n - 1); }

    /// As UniformHermite.
    KS_FN double operator()(double x) const {
        const double t = (x - first) / step;
        const auto top = static_cast<double>(node.n - 2);
        const auto i = static_cast<index_t>(t > 0 ? (t < top ? t : top) : 0);
        const double s = t - static_cast<double>(i);
        const Node &a = node[i], &b = node[i + 1];
        if (s < 0) return a.value + s * a.rise;
        if (s > 1) return b.value + (s - 1) * b.rise;
        const double u = 1 - s, jump = b.value - a.value;
        return a.value + s * s * (3 - 2 * s) * jump + s * u * (u * a.rise - s * b.rise);
    }

    /// As UniformHermite.
    KS_FN double inverse(double value) const {
        if (!(value > node[0].value)) return first;
        if (!(value < node[node.n - 1].value)) return last();
        index_t above = 0;  // the first node above the value
        for (index_t end = node.n; above < end;) {
            const index_t middle = (above + end) / 2;
            if (value < node[middle].value)
                end = middle;
            else
                above = middle + 1;
        }
        const Node &a = node[above - 1], &b = node[above];
        // Newton on the cubic of this cell, kept inside a shrinking bracket.
        double low = 0, high = 1;
        double s = (value - a.value) / (b.value - a.value);
        for (int i = 0; i < 60 && high - low > 1e-15; ++i) {
            const double u = 1 - s, jump = b.value - a.value;
            const double excess = a.value - value + s * s * (3 - 2 * s) * jump + s * u * (u * a.rise - s * b.rise);
            if (excess == 0) break;
            (excess > 0 ? high : low) = s;
            const double slope = 6 * s * u * jump + u * (1 - 3 * s) * a.rise + s * (3 * s - 2) * b.rise;
            const double next = s - excess / slope;
            const bool inside = next > low && next < high;
            const double moved = std::abs(next - s);
            s = inside ? next : (low + high) / 2;
            if (inside && moved < 1e-15) break;
        }
        return first + step * (static_cast<double>(above - 1) + s);
    }
};

/// Piecewise cubic interpolant on a uniform grid.
class UniformHermite {
   public:
    /// No data.
    UniformHermite() = default;
    /// @param first   abscissa of the first value   @param step  distance of the abscissas, above 0
    /// @param values  [n >= 2] f at first, first + step, ...   @param slopes  [n] df/dx there
    UniformHermite(double first, double step, const std::vector<double>& values, const std::vector<double>& slopes);

    /// The interpolant at x; linear beyond the ends.
    double operator()(double x) const { return curve()(x); }

    /// The x at which an increasing interpolant takes `value`; the nearer end when it is outside the range.
    double inverse(double value) const { return curve().inverse(value); }

    HermiteCurve curve() const { return {first_, step_, view(node_)}; }
    /// Returns the same interpolant with the nodes in another memory. @param memory  a TableMemory
    template <class Memory>
    HermiteCurve curve(Memory& memory) const {
        return {first_, step_, memory(node_)};
    }

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
    double first_ = 0, step_ = 1;
    std::vector<HermiteCurve::Node> node_;
};

/// Slopes for data on a uniform grid, fourth order inside where that keeps the interpolant monotone between its data, limited
/// otherwise.                                                         [Hyman 1983, SIAM J. Sci. Stat. Comput. 4, 645]
std::vector<double> monotone_slopes(const std::vector<double>& values, double step);

}  // namespace kasane
