// The frame of a sample of particles: its median is the origin, its extent the scale.
#include <kasane/gravity/direct/bound.body.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

/// Replaces a scale of zero (all particles at one point, no mass) by 1, so that bounds are above 0. The sums are then zero.
double or_one(double scale) { return scale > 0 ? scale : 1; }

/// Upper bound of the total mass.
double mass_bound(const DirectFrame& frame) { return static_cast<double>(std::max<index_t>(frame.total, 1)) * or_one(frame.largest_mass); }

}  // namespace

double DirectFrame::acceleration_bound(double softening) const { return detail::acceleration_bound(mass_bound(*this), extent, softening); }

double DirectFrame::potential_bound(double softening) const { return detail::potential_bound(mass_bound(*this), extent, softening); }

DirectFrame make_direct_frame(const std::vector<Vec3<double>>& sampled, double largest_mass, index_t total) {
    // Non-finite particles (a step was far too long for them) are left out.
    std::vector<Vec3<double>> places;
    for (const auto& x : sampled)
        if (std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)) places.push_back(x);
    DirectFrame frame{{}, 0, largest_mass, total};
    if (places.empty()) return frame;

    const auto median = [&](double Vec3<double>::* component) {
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

double closest_pair(const std::vector<Vec3<double>>& sampled, const Vec3<double>& origin, index_t n) {
    std::vector<double> distance;
    for (const auto& x : sampled) distance.push_back(std::hypot(x.x - origin.x, x.y - origin.y, x.z - origin.z));
    const auto middle = distance.begin() + std::ssize(distance) / 2;
    std::nth_element(distance.begin(), middle, distance.end());
    return 2 * *middle / std::pow(static_cast<double>(n), 2.0 / 3);
}

}  // namespace kasane::gravity
