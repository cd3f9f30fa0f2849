#include <kasane/core/base/error.hpp>
#include <kasane/gravity/diagnose/radius_selection.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace kasane::gravity::detail {

RadiusSelection::RadiusSelection(double total, std::span<const double> fractions) {
    KS_EXPECT(total > 0 && fractions.size() <= most_radii);
    // A scale above 2^1022 is not finite; a total mass below 2^-960 then has fewer digits.
    pass_.scale = std::ldexp(1., 62 - std::max(std::ilogb(total) + 1, -960));
    for (const double fraction : fractions) wanted_.push_back({fraction * total * (1 - 1e-14) * pass_.scale, 0, {}});
}

void RadiusSelection::refine(const std::vector<std::uint64_t>& masses) {
    RadiusPass next;
    next.shift = pass_.shift - pass_.bits;
    next.bits = std::min(RadiusPass::later_bits, next.shift);
    next.scale = pass_.scale;
    next.intervals = 0;
    const int bins = 1 << pass_.bits;
    for (auto& wanted : wanted_) {
        const int first = wanted.interval * bins;
        int bin = 0;
        for (; bin + 1 < bins; ++bin) {
            const auto at = 2 * static_cast<std::size_t>(first + bin);
            const auto within = wanted.below + FixedMass{masses[at], masses[at + 1]};
            if (within.value() >= wanted.mass) break;
            wanted.below = within;
        }
        const auto prefix = pass_.prefix[wanted.interval] << pass_.bits | static_cast<std::uint64_t>(bin);
        const auto* const end = next.prefix + next.intervals;
        wanted.interval = static_cast<int>(std::find(next.prefix, next.prefix + next.intervals, prefix) - next.prefix);
        if (next.prefix + wanted.interval == end) next.prefix[next.intervals++] = prefix;
    }
    pass_ = next;
}

std::vector<double> RadiusSelection::radii() const {
    std::vector<double> radii;
    for (const auto& wanted : wanted_) radii.push_back(std::sqrt(std::bit_cast<double>(pass_.prefix[wanted.interval])));
    return radii;
}

}  // namespace kasane::gravity::detail
