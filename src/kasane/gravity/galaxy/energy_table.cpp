#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

EnergyTable::EnergyTable(std::vector<Node> nodes, double crowd) : nodes_(std::move(nodes)), crowd_(crowd) {
    const auto n = nodes_.size();
    KS_EXPECT(n >= 2 && nodes_[0].energy > 0);
    const auto secant = [&](std::size_t i) { return (nodes_[i + 1].value - nodes_[i].value) / (nodes_[i + 1].energy - nodes_[i].energy); };
    for (std::size_t i = 0; i < n; ++i) {
        const double before = secant(i == 0 ? 0 : i - 1), behind = secant(i == n - 1 ? n - 2 : i);
        const double limit = before * behind > 0 ? 3 * std::min(std::abs(before), std::abs(behind)) : 0;
        nodes_[i].slope = std::copysign(std::clamp(std::copysign(1., before) * nodes_[i].slope, 0., limit), before);
    }

    // The three ranges of bins, each from the least to the greatest of its nodes' arguments.
    const auto range_of = [&](double e) { return e < crowd_ / 2 ? 0 : e < crowd_ ? 1 : 2; };
    const auto argument = [&](double e) { return range_of(e) == 0 ? e : std::abs(e - crowd_); };
    std::int64_t highest[3] = {-1, -1, -1};
    for (const auto& node : nodes_) {
        const auto k = range_of(node.energy);
        // A node at the crowd itself has no bin; next to it the smallest difference that double precision tells apart is enough.
        const auto b = octave_bin(std::max(argument(node.energy), crowd_ * 1e-17));
        lowest_[k] = highest[k] < 0 ? b : std::min(lowest_[k], b);
        highest[k] = std::max(highest[k], b);
    }
    for (int k = 0; k < 3; ++k) count_[k] = highest[k] < 0 ? 1 : highest[k] - lowest_[k] + 1;

    const auto bins = static_cast<std::size_t>(count_[0] + count_[1] + count_[2]);
    first_cell_.assign(bins + 1, 0);
    // Bins ascend with energy: an energy of bin b lies at or above the last node of the bins before it.
    for (std::size_t i = 1; i + 1 < n; ++i) first_cell_[bin(nodes_[i].energy) + 1] = static_cast<std::uint32_t>(i);
    for (std::size_t b = 1; b <= bins; ++b) first_cell_[b] = std::max(first_cell_[b], first_cell_[b - 1]);
}

double EnergyTable::greatest(double low, double high) const {
    double most = std::max((*this)(low), (*this)(high));
    for (auto i = cell(low) + 1; i < nodes_.size() && nodes_[i].energy < high; ++i) most = std::max(most, nodes_[i].value);
    return most;
}

}  // namespace kasane::gravity
