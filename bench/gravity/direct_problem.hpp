// What the benchmarks of direct summation sum up, and how far off the sums are.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/particles.hpp>

#include <vector>

namespace kasane::bench {

inline constexpr double direct_softening = 0.01;
inline constexpr double direct_flops = 26;  ///< per interaction, the convention of [MTM13]
inline constexpr index_t direct_audited = 128;

/// A Plummer sphere in numbers that float holds, so that an error is the sum's and not that of rounding the input.
gravity::Particles direct_problem(index_t n, bool equal_masses);

/// Origin and scale, as the steps of a Simulation choose them.
gravity::DirectFrame direct_frame(const gravity::Particles& particles);

/// At most direct_audited particles, evenly spread.
std::vector<index_t> audited_of(index_t n);
/// Their accelerations by the plain sum in double.
std::vector<Vec3<double>> exact_accelerations(const gravity::Particles& particles, const std::vector<index_t>& audited);
/// Largest |a - a_exact| / |a_exact|; a NaN is the largest.
double largest_error(const std::vector<Vec3<double>>& acceleration, const std::vector<Vec3<double>>& exact);

}  // namespace kasane::bench
