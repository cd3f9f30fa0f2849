// The DirectFrame of a sample of the particles.
#pragma once

#include <kasane/gravity/direct/frame.hpp>

#include <vector>

namespace kasane::gravity {

/// Number of particles from which a frame is made; every worker contributes the sampled particles that it holds.
inline constexpr int frame_samples = 32;
/// Index of the sampled particle k (0 ... frame_samples - 1) among all `total` particles.
inline index_t frame_sample(int k, index_t total) { return k * total / frame_samples; }
/// The frame of these samples. The origin is the median of each component, so that a few distant particles do not move it. Samples that
/// are not finite are left out.
/// @param sampled  [frame_samples] positions of the sampled particles [length]
/// @param largest_mass  of all particles [mass]
/// @param total  particles of all workers
/// @param on_cuda  whether a CUDA device computes the sums
DirectFrame make_direct_frame(const std::vector<Vec3<double>>& sampled, double largest_mass, index_t total, bool on_cuda = false);
/// The distance at which one pair is expected among the n / 2 particles that are closest to the origin, if they fill a ball evenly:
/// (n / 2)^2 / 2 (s / d)^3 = 1 with the median distance d of the samples from the origin, so s = 2 d n^(-2/3) [length]. Half of the
/// particles decide it, so that a few distant ones do not. 0: more than half of the samples are at the origin.
double closest_pair(const std::vector<Vec3<double>>& sampled, const Vec3<double>& origin, index_t n);

}  // namespace kasane::gravity
