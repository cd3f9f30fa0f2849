#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/frame.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace kasane::gravity::detail {
namespace {

/// The bin whose upper end is the half-width of the root cube. Particles beyond it belong to cells at the border, and each of them
/// costs every target about one interaction; particles in the innermost 2^-17 of it (16 of the smallest cells) are too close for
/// the keys to separate them well, and cost each other one. The bin with the smallest sum is chosen, of equal ones the smallest: it
/// holds all particles where the keys allow that, and leaves an escaper outside where they do not.
int extent_bin(const Census& census) {
    constexpr int unresolved_below = 17;
    constexpr std::uint64_t few = 8;
    int lowest = 1, highest = Census::not_finite - 1;
    while (lowest < highest && census.count[lowest] == 0) ++lowest;
    while (highest > lowest && census.count[highest] == 0) --highest;
    std::uint64_t outside = 0, unresolved = 0;
    for (int bin = lowest; bin <= highest; ++bin) outside += census.count[bin];
    if (outside == 0) return 1022;  // all at one place
    int best = highest;
    auto least = ~std::uint64_t{0};
    for (int bin = lowest; bin <= highest; ++bin) {
        outside -= census.count[bin];
        if (bin - unresolved_below >= lowest) unresolved += census.count[bin - unresolved_below];
        const auto cost = outside + (unresolved > few ? unresolved - few : 0);
        if (cost < least) least = cost, best = bin;
    }
    return best;
}

}  // namespace

Vec3<double> middle(std::vector<Vec3<double>> sample) {
    const auto median = [&](double Vec3<double>::* component) {
        const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
        std::nth_element(sample.begin(), at, sample.end(), [&](const auto& a, const auto& b) { return a.*component < b.*component; });
        return (*at).*component;
    };
    return {median(&Vec3<double>::x), median(&Vec3<double>::y), median(&Vec3<double>::z)};
}

Frame frame_of(const Vec3<double>& center, const Census& census) {
    if (const auto lost = census.count[Census::not_finite]; lost > 0)
        throw ComputationError("the positions of " + std::to_string(lost) +
                               " particles are not finite, so that no tree can be built: take shorter time steps or more softening");
    Frame frame;
    frame.center = center;
    // Within these limits 1 / length and squares of ratios stay finite.
    frame.length = std::ldexp(1., std::clamp(extent_bin(census) - 1022, -900, 900));
    double mass = 0;
    for (const double part : census.mass) mass += part;
    if (mass > 0 && std::isfinite(mass)) frame.mass = std::ldexp(1., std::clamp(std::ilogb(mass) + 1, -900, 900));
    return frame;
}

}  // namespace kasane::gravity::detail
