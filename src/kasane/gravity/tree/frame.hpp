// Choice of the root cube: its centre is the middle of the particles; its width lets the levels of the keys resolve most particles.
// Invariants: the frame is a function of the particles alone, not of threads; length and mass are powers of two.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace kasane::gravity::detail {

/// Histogram of the distances from the center, by binary exponent: bin k counts particles whose largest coordinate is in
/// [2^(k-1023), 2^(k-1022)), bin 0 those at the center, the last bin those that are not finite. `mass` has partial sums of the masses.
struct Census {
    static constexpr int bins = 2048, not_finite = bins - 1, shares = 1024;
    std::uint32_t count[bins];
    double mass[shares];
};

KS_FN int census_bin(const Vec3<double>& x, const Vec3<double>& center) {
    const auto magnitude = [](double a) { return a < 0 ? -a : a; };
    const double dx = magnitude(x.x - center.x), dy = magnitude(x.y - center.y), dz = magnitude(x.z - center.z);
    if (!(dx + dy + dz <= 1.7976931348623157e308)) return Census::not_finite;
    const double most = dx > dy ? (dx > dz ? dx : dz) : (dy > dz ? dy : dz);
    std::uint64_t bits = 0;
    memcpy(&bits, &most, sizeof bits);
    return static_cast<int>(bits >> 52);
}

/// Particles whose positions choose the centre of the frame.
inline constexpr index_t frame_sample_size = 1024;

/// Takes the census of these particles, of which there may be none.
template <Space S>
std::unique_ptr<Census> take_census(S on, Workspace<S>& work, View<const Vec3<double>> position, View<const double> mass,
                                    const Vec3<double>& center);

/// Median of a sample of the particles, component by component.
Vec3<double> middle(std::vector<Vec3<double>> sample);

/// The frame for a census about this center.
/// @throws ComputationError: positions are not finite
Frame frame_of(const Vec3<double>& center, const Census& census);

/// Chooses the frame of these particles. @throws ComputationError: positions are not finite
template <Space S>
Frame choose_frame(S on, Workspace<S>& work, View<const Vec3<double>> position, View<const double> mass);

}  // namespace kasane::gravity::detail
