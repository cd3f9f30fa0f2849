// An upper bound of the distribution of speeds at every radius, from which speeds are drawn by rejection. Radii are grouped in cells of
// ln r; in each cell the bound is a step function of q = v / v_max over bins of equal area. One multiplication chooses a bin, and few draws
// are rejected, even if the dispersion of the component is small compared with v_max.
#pragma once

#include <kasane/core/math/random.hpp>

#include <cstddef>
#include <vector>

namespace kasane::gravity {

/// The bounds of a SpeedEnvelope in the memory of any space.
struct SpeedBounds {
    static constexpr std::size_t bins = 32;
    static constexpr int most_trials = 1'000'000;

    double first = 0, step = 1;
    View<const double> area;  ///< area of a bin in each cell
    View<const double> edge;  ///< edges of the bins, bins + 1 for each cell

    /// Draws q as SpeedEnvelope does.
    template <class Density>
    KS_FN double draw(double t, const Density& density, RandomStream& random) const {
        const double place = (t - first) / step;
        const auto top = static_cast<double>(area.n - 1);
        const auto cell = static_cast<index_t>(place > 0 ? (place < top ? place : top) : 0);
        const double* edges = edge.ptr + cell * static_cast<index_t>(bins + 1);
        if (!(area[cell] > 0)) return 0;
        // At the end of an edge, where the density falls by many orders of magnitude in a cell, few draws are accepted; but few particles
        // are there.
        for (int trial = 0; trial < most_trials; ++trial) {
            const double u = bins * random.uniform();
            const auto bin = static_cast<std::size_t>(u);
            const double width = edges[bin + 1] - edges[bin];
            const double q = edges[bin] + (u - static_cast<double>(bin)) * width;
            if (area[cell] * random.uniform() <= density(q) * width) return q;
        }
        return 0;
    }
};

/// Bounds of the density of q = v / v_max, 0 to 1, in cells of ln r.
class SpeedEnvelope {
   public:
    SpeedEnvelope() = default;
    /// Makes equal cells in ln r without bounds; set() sets the bounds.
    /// @param first  ln r where the first cell begins
    /// @param last  ln r where the last cell ends
    /// @param step  largest width of a cell in ln r
    SpeedEnvelope(double first, double last, double step);

    /// Number of cells.
    std::size_t cells() const { return area_.size(); }
    /// ln r where a cell begins; edge(cells()) is the end of the last cell.
    double edge(std::size_t cell) const { return first_ + step_ * static_cast<double>(cell); }
    /// Sets the bound of one cell: the density of q is at most bound[i] between q[i] and q[i + 1]. Many threads may set different cells at
    /// once.
    /// @param cell  0 ... cells() - 1
    /// @param q  ascending from 0 to 1
    /// @param bound  one element less than q, not negative
    void set(std::size_t cell, const std::vector<double>& q, const std::vector<double>& bound);

    /// Draws q at t = ln r from the density of q, which need not be normalised. Returns 0 if the bounds of the cell are 0.
    /// @param t  ln r; a value outside the cells belongs to the nearest cell
    /// @param density  called with q; must not exceed the bounds of the cell
    /// @param random  source of the random numbers
    template <class Density>
    double draw(double t, Density density, RandomStream& random) const {
        return SpeedBounds{first_, step_, view(area_), view(edge_)}.draw(t, density, random);
    }

    /// The bounds in another memory. @param memory  a TableMemory
    template <class Memory>
    SpeedBounds bounds(Memory& memory) const {
        return {first_, step_, memory(area_), memory(edge_)};
    }

   private:
    static constexpr std::size_t bins = SpeedBounds::bins;

    double first_ = 0, step_ = 1;
    std::vector<double> area_, edge_;  // of SpeedBounds
};

}  // namespace kasane::gravity
