#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

EnergyTable::EnergyTable(std::vector<Node> nodes, double crowd) : nodes_(std::move(nodes)), crowd_(crowd) {
    const auto n = nodes_.size();
    KS_EXPECT(n >= 2 && nodes_[0].energy > 0);
    for (std::size_t i = 0; i < n; ++i) {
        // Bernstein coefficients of the cells after and before the node: value + slope width / 3, value - slope width / 3.
        auto& [energy, value, slope] = nodes_[i];
        if (i + 1 < n) slope = std::max(slope, -3 * value / (nodes_[i + 1].energy - energy));
        if (i > 0) slope = std::min(slope, 3 * value / (energy - nodes_[i - 1].energy));
    }

    // The three ranges of bins, each from the smallest to the largest argument of its nodes.
    const auto range_of = [&](double e) { return e < crowd_ / 2 ? 0 : e < crowd_ ? 1 : 2; };
    const auto argument = [&](double e) { return range_of(e) == 0 ? e : std::abs(e - crowd_); };
    std::array<std::int64_t, 3> highest{-1, -1, -1};
    for (const auto& node : nodes_) {
        const auto k = static_cast<std::size_t>(range_of(node.energy));
        // A node at the crowd itself has no bin. Arguments begin at the smallest difference that double precision resolves.
        const auto b = EnergyCurve::octave_bin(std::max(argument(node.energy), crowd_ * 1e-17));
        lowest_[k] = highest[k] < 0 ? b : std::min(lowest_[k], b);
        highest[k] = std::max(highest[k], b);
    }
    for (std::size_t k = 0; k < 3; ++k) count_[k] = highest[k] < 0 ? 1 : highest[k] - lowest_[k] + 1;

    const auto bins = static_cast<std::size_t>(count_[0] + count_[1] + count_[2]);
    first_cell_.assign(bins + 1, 0);
    // Bins ascend with energy: an energy in bin b is at or above the last node of the earlier bins.
    for (std::size_t i = 1; i + 1 < n; ++i)
        first_cell_[static_cast<std::size_t>(curve().bin(nodes_[i].energy)) + 1] = static_cast<std::uint32_t>(i);
    for (std::size_t b = 1; b <= bins; ++b) first_cell_[b] = std::max(first_cell_[b], first_cell_[b - 1]);
}

double EnergyTable::bound(double low, double high) const {
    // A cubic is at most its largest Bernstein coefficient.
    double most = 0;
    for (auto i = static_cast<std::size_t>(curve().cell(low)); i + 1 < nodes_.size() && nodes_[i].energy <= high; ++i) {
        const auto &a = nodes_[i], &b = nodes_[i + 1];
        const double third = (b.energy - a.energy) / 3;
        most = std::max({most, a.value, a.value + third * a.slope, b.value - third * b.slope, b.value});
    }
    return most;
}

}  // namespace kasane::gravity
