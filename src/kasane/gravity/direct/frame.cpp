// A few particles stand for all: their median is the origin, their reach the scale.
#include <kasane/gravity/direct/frame.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

/// What stands for a scale that is zero (one place, no mass), so that bounds stay above it: the sums are then zero anyway.
double or_one(double scale) { return scale > 0 ? scale : 1; }

/// A bound whose quanta are normal numbers whatever the units.
double usable(double bound) { return std::clamp(bound, 1e-200, 1e200); }

/// What the masses of all add up to, at most.
double mass_bound(const DirectFrame& frame) { return static_cast<double>(std::max<index_t>(frame.total, 1)) * or_one(frame.largest_mass); }

}  // namespace

double DirectFrame::acceleration_bound(double softening) const {
    const double mass = mass_bound(*this);
    // r / (r^2 + eps^2)^(3/2) is largest at r = eps / sqrt 2.
    if (softening > 0) return usable(mass * (2 / (3 * std::sqrt(3.0))) / softening / softening);
    return usable(0x1p40 * mass / or_one(extent) / or_one(extent));
}

double DirectFrame::potential_bound(double softening) const {
    const double mass = mass_bound(*this);
    return usable(softening > 0 ? mass / softening : 0x1p40 * mass / or_one(extent));
}

DirectFrame make_direct_frame(const std::vector<Vec3<double>>& sampled, double largest_mass, index_t total) {
    // A particle that is no number (a step was far too long for it) says nothing of where the others are.
    std::vector<Vec3<double>> places;
    for (const auto& x : sampled)
        if (std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)) places.push_back(x);
    DirectFrame frame{{}, 0, largest_mass, total};
    if (places.empty()) return frame;

    const auto median = [&](double Vec3<double>::*component) {
        std::vector<double> values;
        for (const auto& x : places) values.push_back(x.*component);
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    frame.origin = {median(&Vec3<double>::x), median(&Vec3<double>::y), median(&Vec3<double>::z)};
    for (const auto& x : places) {
        const auto from = x - frame.origin;
        frame.extent = std::max(frame.extent, std::hypot(from.x, from.y, from.z));
    }
    return frame;
}

}  // namespace kasane::gravity
