// Accelerations and potentials of given particles by direct summation, and an audit of them against plain double sums.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/particles.hpp>

#include <filesystem>
#include <vector>

namespace kasane::run {

struct Forces {
    std::vector<Vec3<double>> acceleration;  ///< [length / time^2]
    std::vector<double> potential;           ///< [length^2 / time^2]
    double seconds = 0;                      ///< of the summation alone
    double interactions = 0;
    std::string variant;  ///< that ran
};

/// @throws InputError: more particles than memory; ComputationError: a force that is not finite
Forces forces(const AnySpace& on, const gravity::Particles& particles, const gravity::Direct& options);

/// Relative errors |a - a_ref| / |a_ref| of `count` particles, evenly spread over all.
struct Audit {
    index_t count = 0;
    double median = 0, p99 = 0, max = 0;
};
Audit audit(const gravity::Particles& particles, const Forces& forces, const gravity::Direct& options, index_t count);

/// HDF5 with Acceleration (n, 3), Potential (n), ParticleIDs (n), in the particles' order.
void write_forces(const std::filesystem::path& path, const gravity::Particles& particles, const Forces& forces);

}  // namespace kasane::run
