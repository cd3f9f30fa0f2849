// A non-negative function of energy on any ascending nodes: cubic Hermite cells, found in constant time. Energies may cluster at one
// value (the bottom of a potential, from below or, with a point mass, from both sides): differences from it are resolved like energies
// near 0.
// Invariant: the Bernstein coefficients of all cells are not negative; therefore the function is not negative.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// A non-negative, continuously differentiable function of energy as a table; DistributionFunction stores f in it.
class EnergyTable {
   public:
    EnergyTable() = default;
    /// A point of the table.
    struct Node {
        double energy,  ///< E [mass / length, G = 1]
            value,      ///< of the function at E, not negative
            slope;      ///< d value / dE
    };
    /// Limits the slopes so that every cell satisfies the invariant.
    /// @param nodes  at least 2, energies ascending and above 0, values not negative
    /// @param crowd  energy at which the nodes cluster
    EnergyTable(std::vector<Node> nodes, double crowd);

    /// Smallest energy of the table.
    double first() const { return nodes_.front().energy; }
    /// Largest energy of the table.
    double last() const { return nodes_.back().energy; }

    /// Value at the energy e, first() to last().
    double operator()(double e) const {
        const auto& a = nodes_[cell(e)];
        const auto& b = *(&a + 1);
        const double width = b.energy - a.energy, s = (e - a.energy) / width, u = 1 - s;
        // Rounding may give a negative value where the function touches 0.
        return std::max(a.value + s * s * (3 - 2 * s) * (b.value - a.value) + s * u * width * (u * a.slope - s * b.slope), 0.);
    }
    /// Upper bound of the function between two energies of the table, low <= high.
    double bound(double low, double high) const;

   private:
    static constexpr int bins_per_octave_log2 = 5;
    static std::int64_t octave_bin(double x) {
        return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> (52 - bins_per_octave_log2));
    }
    /// Bin of e, ascending with e: bins of e, then of the distance to `crowd_` below it, then above it.
    std::size_t bin(double e) const {
        const auto clamped = [](std::int64_t i, std::int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; };
        const auto below = count_[0] + count_[1];
        if (e < crowd_ / 2) return static_cast<std::size_t>(clamped(octave_bin(e) - lowest_[0], count_[0]));
        if (e < crowd_) return static_cast<std::size_t>(below - 1 - clamped(octave_bin(crowd_ - e) - lowest_[1], count_[1]));
        return static_cast<std::size_t>(below + clamped(octave_bin(e - crowd_) - lowest_[2], count_[2]));
    }
    std::size_t cell(double e) const {
        const auto b = bin(e);
        std::size_t low = first_cell_[b], high = first_cell_[b + 1];  // the cell is one of low..high
        while (low < high) {
            const auto middle = (low + high + 1) / 2;
            if (nodes_[middle].energy <= e)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }

    std::vector<Node> nodes_;
    double crowd_ = 0;
    std::int64_t lowest_[3] = {}, count_[3] = {};
    std::vector<std::uint32_t> first_cell_;  // [bins + 1] the cell in which each bin begins
};

}  // namespace kasane::gravity
