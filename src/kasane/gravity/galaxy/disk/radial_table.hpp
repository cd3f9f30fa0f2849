// Numbers along R on the cell centres of a StretchedAxis, interpolated by monotone cubics; constant inside the first centre.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/disk/cylinder_grid.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kasane::gravity {

class RadialTable {
   public:
    RadialTable() = default;
    RadialTable(const StretchedAxis& axis, const std::vector<double>& values)
        : table_(0.5, 1, values, monotone_slopes(values, 1)), last_(static_cast<double>(axis.cells) - 0.5) {}

    /// @param u  index of the radius on the axis, StretchedAxis::index(R)
    double operator()(double u) const { return table_(std::clamp(u, 0.5, last_)); }

   private:
    UniformHermite table_;
    double last_ = 0;
};

/// The same for positive numbers, kept as logarithms.
class LogRadialTable {
   public:
    LogRadialTable() = default;
    LogRadialTable(const StretchedAxis& axis, std::vector<double> values) {
        for (double& v : values) v = std::log(v);
        log_ = RadialTable(axis, values);
    }
    double operator()(double u) const { return std::exp(log_(u)); }
    double log(double u) const { return log_(u); }

   private:
    RadialTable log_;
};

/// Derivatives by the index of numbers at the cell centres, fourth order; `parity` +1 or -1 tells how they go on through the axis.
inline std::vector<double> index_slopes(const std::vector<double>& values, double parity) {
    const auto n = static_cast<std::ptrdiff_t>(values.size());
    const auto at = [&](std::ptrdiff_t i) {
        return i < 0 ? parity * values[static_cast<std::size_t>(-i - 1)] : values[static_cast<std::size_t>(i)];
    };
    std::vector<double> slopes(values.size());
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        double& s = slopes[static_cast<std::size_t>(i)];
        if (i + 1 == n) s = (3 * at(i) - 4 * at(i - 1) + at(i - 2)) / 2;
        else if (i + 2 == n) s = (at(i + 1) - at(i - 1)) / 2;
        else s = (8 * (at(i + 1) - at(i - 1)) - (at(i + 2) - at(i - 2))) / 12;
    }
    return slopes;
}

}  // namespace kasane::gravity
