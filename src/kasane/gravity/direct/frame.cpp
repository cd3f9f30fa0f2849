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

/// The value with half of the others before it; reorders them. @param values  at least one
double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::vector<double> distances(const std::vector<Vec3<double>>& places, const Vec3<double>& origin) {
    std::vector<double> all;
    for (const auto& x : places) all.push_back(std::hypot(x.x - origin.x, x.y - origin.y, x.z - origin.z));
    return all;
}

}  // namespace

double DirectFrame::acceleration_bound(double softening) const { return detail::acceleration_bound(mass_bound(*this), extent, softening); }

double DirectFrame::potential_bound(double softening) const { return detail::potential_bound(mass_bound(*this), extent, softening); }

DirectFrame make_direct_frame(const std::vector<Vec3<double>>& sampled, double largest_mass, index_t total, bool on_cuda) {
    // Non-finite particles (a step was far too long for them) are left out.
    std::vector<Vec3<double>> places;
    for (const auto& x : sampled)
        if (std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)) places.push_back(x);
    DirectFrame frame{{}, 0, largest_mass, total};
    if (places.empty()) return frame;

    const auto median = [&](double Vec3<double>::* component) {
        std::vector<double> values;
        for (const auto& x : places) values.push_back(x.*component);
        return median_of(values);
    };
    frame.origin = {median(&Vec3<double>::x), median(&Vec3<double>::y), median(&Vec3<double>::z)};
    auto distance = distances(places, frame.origin);
    frame.extent = std::ranges::max(distance);
    if (const double middle = median_of(distance); on_cuda && middle > 0)
        frame.extent = std::min(frame.extent, detail::most_extent * middle);
    return frame;
}

double closest_pair(const std::vector<Vec3<double>>& sampled, const Vec3<double>& origin, index_t n) {
    auto distance = distances(sampled, origin);
    return 2 * median_of(distance) / std::pow(static_cast<double>(n), 2.0 / 3);
}

}  // namespace kasane::gravity
