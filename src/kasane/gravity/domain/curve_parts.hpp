// The work of a worker's particles along the curve, in parts of equal numbers of particles.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/boundaries.hpp>

#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// Divides particles in curve order into at most `most` parts. The work of a particle is work_per_force times the number of its forces in
/// dt_max, 2^level. Waits for the space.
/// @param key    [n] ascending   @param level  [n]; empty: one force each
template <Space S>
std::vector<CurvePart> curve_parts(S on, View<const std::uint64_t> key, View<const std::uint8_t> level, double work_per_force,
                                   index_t most);

}  // namespace kasane::gravity
