// An upper bound of the distribution of speeds at every radius, from which speeds are drawn by rejection. Radii fall into cells of
// ln r; in each, the bound is a step function of q = v / v_max over bins of equal area, so that a bin is drawn by one multiplication
// and few draws are rejected, however cold the component is compared with v_max.
#pragma once

#include <kasane/core/math/random.hpp>

#include <cstddef>
#include <vector>

namespace kasane::gravity {

class SpeedEnvelope {
   public:
    SpeedEnvelope() = default;
    /// Cells from ln r = first to last, no wider than step.
    SpeedEnvelope(double first, double last, double step);

    std::size_t cells() const { return area_.size(); }
    /// Where a cell begins; the last one ends at edge(cells()).
    double edge(std::size_t cell) const { return first_ + step_ * static_cast<double>(cell); }
    /// Sets one cell: the density of q is at most bound[i] between q[i] and q[i + 1], q from 0 to 1. Many threads may set cells at once.
    void set(std::size_t cell, const std::vector<double>& q, const std::vector<double>& bound);

    /// q at t = ln r, distributed as density(q), which must keep to the bounds of its cell; 0 where those are 0.
    template <class Density>
    double draw(double t, Density density, RandomStream& random) const {
        const double place = (t - first_) / step_;
        const auto top = static_cast<double>(cells() - 1);
        const auto cell = static_cast<std::size_t>(place > 0 ? (place < top ? place : top) : 0);
        const double* edges = &edge_[cell * (bins + 1)];
        const double area = area_[cell];
        if (!(area > 0)) return 0;
        // At the very end of an edge that falls by many orders within a cell hardly a draw is accepted, and hardly a particle lies.
        for (int trial = 0; trial < most_trials; ++trial) {
            const double u = bins * random.uniform();
            const auto bin = static_cast<std::size_t>(u);
            const double width = edges[bin + 1] - edges[bin];
            const double q = edges[bin] + (u - static_cast<double>(bin)) * width;
            if (area * random.uniform() <= density(q) * width) return q;
        }
        return 0;
    }

   private:
    static constexpr std::size_t bins = 32;
    static constexpr int most_trials = 1'000'000;

    double first_ = 0, step_ = 1;
    std::vector<double> area_;  // of a bin, by cell
    std::vector<double> edge_;  // bins + 1 by cell
};

}  // namespace kasane::gravity
