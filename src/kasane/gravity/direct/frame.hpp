// Origin and scale of direct summation: packed positions are relative to `origin`, and the resolution of the fixed-point sums follows
// from the masses and the extent. The same on every worker, and a function of the particles alone, not of the number of workers.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

namespace kasane::gravity {

/// Origin and scale of direct summation.
struct DirectFrame {
    Vec3<double> origin;      ///< packed positions are relative to it [length]
    double extent = 0;        ///< largest distance of a sampled particle from the origin [length]; 0: all at one point. On CUDA devices
                              ///< at most 1024 median distances
    double largest_mass = 0;  ///< of all particles [mass]
    index_t total = 0;        ///< particles of all workers; 0: the frame is not set

    /// Upper bound of the sum of all accelerations (without G) on one target: n m 2/(3 sqrt 3) / eps^2 when softened. Without softening
    /// there is no bound: 2^40 times n m / extent^2, which only a pair closer than 1e-6 extent / sqrt n exceeds. Above 0
    /// [mass / length^2].
    /// @param softening  Plummer eps [length]
    double acceleration_bound(double softening) const;
    /// Upper bound of the absolute potential (without G) at one target: n m / eps, or 2^40 n m / extent [mass / length].
    /// @param softening  Plummer eps [length]
    double potential_bound(double softening) const;
};

}  // namespace kasane::gravity
