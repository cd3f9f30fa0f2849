// A non-negative function of energy on any ascending nodes: cubic Hermite cells, found in constant time. Energies may cluster at one
// value (the bottom of a potential, from below or, with a point mass, from both sides): differences from it are resolved like energies
// near 0.
// Invariant: the Bernstein coefficients of all cells are not negative; therefore the function is not negative.
#pragma once

#include <kasane/core/base/types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// The function of an EnergyTable over nodes in the memory of any space.
struct EnergyCurve {
    /// A point of the table.
    struct Node {
        double energy,  ///< E [mass / length, G = 1]
            value,      ///< of the function at E, not negative
            slope;      ///< d value / dE
    };
    View<const Node> nodes;
    double crowd = 0;
    std::array<std::int64_t, 3> lowest{}, count{};  ///< bins: of e, of the distance to `crowd` below it, above it
    View<const std::uint32_t> first_cell;           ///< [bins + 1] the cell in which each bin begins

    KS_FN double first() const { return nodes[0].energy; }
    KS_FN double last() const { return nodes[nodes.n - 1].energy; }

    /// Value at the energy e, first() to last().
    KS_FN double operator()(double e) const {
        const Node& a = nodes[cell(e)];
        const Node& b = *(&a + 1);
        const double width = b.energy - a.energy, s = (e - a.energy) / width, u = 1 - s;
        // Rounding may give a negative value where the function touches 0.
        return std::max(a.value + s * s * (3 - 2 * s) * (b.value - a.value) + s * u * width * (u * a.slope - s * b.slope), 0.);
    }

    static constexpr int bins_per_octave_log2 = 5;
    KS_FN static std::int64_t octave_bin(double x) {
        return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> (52 - bins_per_octave_log2));
    }
    /// Bin of e, ascending with e.
    KS_FN index_t bin(double e) const {
        const auto clamped = [](std::int64_t i, std::int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; };
        const auto below = count[0] + count[1];
        if (e < crowd / 2) return clamped(octave_bin(e) - lowest[0], count[0]);
        if (e < crowd) return below - 1 - clamped(octave_bin(crowd - e) - lowest[1], count[1]);
        return below + clamped(octave_bin(e - crowd) - lowest[2], count[2]);
    }
    KS_FN index_t cell(double e) const {
        const auto b = bin(e);
        index_t low = first_cell[b], high = first_cell[b + 1];  // the cell is one of low..high
        while (low < high) {
            const auto middle = (low + high + 1) / 2;
            if (nodes[middle].energy <= e)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
};

/// A non-negative, continuously differentiable function of energy as a table; DistributionFunction stores f in it.
class EnergyTable {
   public:
    EnergyTable() = default;
    using Node = EnergyCurve::Node;
    /// Limits the slopes so that every cell satisfies the invariant.
    /// @param nodes  at least 2, energies ascending and above 0, values not negative
    /// @param crowd  energy at which the nodes cluster
    EnergyTable(std::vector<Node> nodes, double crowd);

    /// Smallest energy of the table.
    double first() const { return nodes_.front().energy; }
    /// Largest energy of the table.
    double last() const { return nodes_.back().energy; }

    /// Value at the energy e, first() to last().
    double operator()(double e) const { return curve()(e); }
    /// Upper bound of the function between two energies of the table, low <= high.
    double bound(double low, double high) const;

    EnergyCurve curve() const { return {view(nodes_), crowd_, lowest_, count_, view(first_cell_)}; }
    /// The same with the nodes in another memory. @param memory  a TableMemory
    template <class Memory>
    EnergyCurve curve(Memory& memory) const {
        return {memory(nodes_), crowd_, lowest_, count_, memory(first_cell_)};
    }

   private:
    std::vector<Node> nodes_;
    double crowd_ = 0;
    std::array<std::int64_t, 3> lowest_{}, count_{};
    std::vector<std::uint32_t> first_cell_;
};

}  // namespace kasane::gravity
