// Accelerations and potentials of given particles, by direct summation or by the tree code, and an audit of them against plain
// double sums.
#pragma once

#include <kasane/gravity/simulation.hpp>

#include <filesystem>
#include <vector>

namespace kasane::run {

struct Forces {
    std::vector<Vec3<double>> acceleration;  ///< [length / time^2]
    std::vector<double> potential;           ///< [length^2 / time^2]
    double seconds = 0;                      ///< of the forces alone, with a tree its sort, build and moments too
    double interactions = 0;
    std::string variant;  ///< kernel or walk that ran
};

/// The softenings of the particles, if they have any, replace that of the force.
/// @throws InputError: more particles than memory; ComputationError: a force that is not finite
Forces forces(const AnySpace& on, const gravity::Particles& particles, const gravity::Force& force);

/// Relative errors |a - a_ref| / |a_ref| of `count` particles, evenly spread over all.
gravity::ForceAudit audit(const gravity::Particles& particles, const Forces& forces, const gravity::Force& force, index_t count);

/// HDF5 with Acceleration (n, 3), Potential (n), ParticleIDs (n), in the particles' order.
void write_forces(const std::filesystem::path& path, const gravity::Particles& particles, const Forces& forces);

}  // namespace kasane::run
