// Functions of R, given at the cell centres of a StretchedAxis and interpolated by monotone cubics; constant inside the first centre.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/disk/cylinder_grid.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kasane::gravity {

/// A RadialTable in the memory of any space.
struct RadialCurve {
    HermiteCurve table;
    double last = 0;

    KS_FN double operator()(double u) const { return table(std::clamp(u, 0.5, last)); }
};

class RadialTable {
   public:
    RadialTable() = default;
    RadialTable(const StretchedAxis& axis, const std::vector<double>& values)
        : table_(0.5, 1, values, monotone_slopes(values, 1)), last_(static_cast<double>(axis.cells) - 0.5) {}

    /// @param u  index of the radius on the axis, StretchedAxis::index(R)
    double operator()(double u) const { return RadialCurve{table_.curve(), last_}(u); }

    /// @param memory  a TableMemory
    template <class Memory>
    RadialCurve curve(Memory& memory) const {
        return {table_.curve(memory), last_};
    }

   private:
    UniformHermite table_;
    double last_ = 0;
};

/// The same for positive numbers, which are interpolated as logarithms.
class LogRadialTable {
   public:
    LogRadialTable() = default;
    LogRadialTable(const StretchedAxis& axis, std::vector<double> values) {
        for (double& v : values) v = std::log(v);
        log_ = RadialTable(axis, values);
    }
    double operator()(double u) const { return std::exp(log_(u)); }
    double log(double u) const { return log_(u); }
    /// The curve of the logarithms. @param memory  a TableMemory
    template <class Memory>
    RadialCurve log_curve(Memory& memory) const {
        return log_.curve(memory);
    }

   private:
    RadialTable log_;
};

/// d ln f / d ln R of positive numbers at the cell centres: of fourth order in the index; next to the axis, where f may be any power
/// of R, of second order in logarithms.
inline std::vector<double> log_slopes(const StretchedAxis& axis, const std::vector<double>& values) {
    const std::size_t n = values.size();
    const auto f = [&](std::size_t i) { return std::log(values[i]); };
    const auto R = [&](std::size_t i) { return axis.centre(i); };
    std::vector<double> slopes(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (i < 8 || i + 3 > n) {
            const std::size_t a = i > 0 ? i - 1 : 0, b = std::min(i + 1, n - 1);
            slopes[i] = (f(b) - f(a)) / std::log(R(b) / R(a));
        } else {
            slopes[i] = (8 * (f(i + 1) - f(i - 1)) - (f(i + 2) - f(i - 2))) / 12 * R(i) / axis.slope(R(i));
        }
    }
    return slopes;
}

}  // namespace kasane::gravity
