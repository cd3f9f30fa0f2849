// The problem of the benchmarks of direct summation, and the errors of its results.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/frame.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <vector>

namespace kasane::bench {

inline constexpr double direct_softening = 0.01;
inline constexpr double direct_flops = 26;  ///< per interaction, the convention of [MTM13]
inline constexpr index_t direct_audited = 128;

/// A Plummer sphere with positions and masses that float represents exactly, so that errors do not include the rounding of the input.
gravity::Particles direct_problem(index_t n, bool equal_masses);

/// The frame (origin and scale) that the steps of a Simulation would choose.
gravity::DirectFrame direct_frame(const gravity::Particles& particles);

/// Numbers of at most direct_audited particles, evenly spread.
std::vector<index_t> audited_of(index_t n);
/// Accelerations of the audited particles by the plain sum in double.
std::vector<Vec3<double>> exact_accelerations(const gravity::Particles& particles, const std::vector<index_t>& audited);
/// Largest |a - a_exact| / |a_exact|; NaN if one of them is NaN.
double largest_error(const std::vector<Vec3<double>>& acceleration, const std::vector<Vec3<double>>& exact);

}  // namespace kasane::bench
