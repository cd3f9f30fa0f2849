// Origin and scale of direct summation: packed positions are relative to `origin`, and the resolution of the fixed-point sums follows
// from the masses and the scale. The same on every worker, and a function of the particles alone, not of the number of workers.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <vector>

namespace kasane::gravity {

struct DirectFrame {
    Vec3<double> origin;
    double extent = 0;        ///< largest distance of a sampled particle from the origin; 0 for one place
    double largest_mass = 0;  ///< of any particle
    index_t total = 0;        ///< particles of all workers

    /// Upper bound of the sum of all accelerations (without G) on one target: n m 2/(3 sqrt 3) / eps^2 when softened. Without softening
    /// there is no bound: 2^40 times n m / extent^2, which only a pair closer than 1e-6 extent / sqrt n exceeds. Above 0.
    double acceleration_bound(double softening) const;
    /// The same for the potential: n m / eps, or 2^40 n m / extent.
    double potential_bound(double softening) const;
};

/// Particles that a frame is made of; every worker contributes those that it holds.
inline constexpr int frame_samples = 32;
/// Index of a sample in the order of all particles.
inline index_t frame_sample(int k, index_t total) { return k * total / frame_samples; }
/// @param sampled [frame_samples]; per component their median is the origin: a few far particles do not move it
DirectFrame make_direct_frame(const std::vector<Vec3<double>>& sampled, double largest_mass, index_t total);

}  // namespace kasane::gravity
