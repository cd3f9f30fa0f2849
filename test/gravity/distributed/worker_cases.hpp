// Simulations on many workers and on one device, to be compared bit by bit: their input, and all their results.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

/// The first n particles of a Plummer sphere. Masses differ, so that no results are equal by symmetry.
inline Particles worker_particles(index_t n) {
    static const auto all = plummer({.count = 9000, .seed = 11});
    auto p = all;
    const auto size = static_cast<std::size_t>(n);
    p.position.resize(size);
    p.velocity.resize(size);
    p.mass.resize(size);
    p.id.resize(size);
    p.type.resize(size);
    for (std::size_t i = 0; i < size; ++i) p.mass[i] *= 1 + 0.25 * std::sin(static_cast<double>(i));
    return p;
}

inline SimulationOptions worker_options(const Steps& steps, double softening = 0.02) {
    return {.force = Direct{.softening = softening}, .step = steps};
}

/// All results of a simulation, after each burst of steps and at the end.
struct Results {
    std::vector<Particles> particles;
    std::vector<std::vector<Vec3<double>>> acceleration;
    std::vector<std::vector<double>> potential;
    std::vector<Diagnostics> diagnostics;
    std::vector<ForceAudit> audit;
    StepCounts counts;
    double interactions = 0, time = 0;
    std::string variant;
};

inline Results results_of(Simulation& sim, const std::vector<std::int64_t>& bursts) {
    Results results;
    for (const auto burst : bursts) {
        sim.step(burst);
        results.particles.push_back(sim.particles());
        results.acceleration.push_back(sim.acceleration());
        results.potential.push_back(sim.potential());
        results.diagnostics.push_back(sim.diagnostics());
        results.audit.push_back(sim.audit(50));
    }
    results.counts = sim.step_counts();
    results.interactions = sim.interactions();
    results.time = sim.time();
    results.variant = sim.variant();
    return results;
}

inline void expect_same(const Results& a, const Results& b) {
    ASSERT_EQ(a.particles.size(), b.particles.size());
    for (std::size_t k = 0; k < a.particles.size(); ++k) {
        EXPECT_EQ(a.particles[k].position, b.particles[k].position) << "after burst " << k;
        EXPECT_EQ(a.particles[k].velocity, b.particles[k].velocity) << "after burst " << k;
        EXPECT_EQ(a.particles[k].id, b.particles[k].id);
        EXPECT_EQ(a.acceleration[k], b.acceleration[k]) << "after burst " << k;
        EXPECT_EQ(a.potential[k], b.potential[k]) << "after burst " << k;
        EXPECT_EQ(a.diagnostics[k].time, b.diagnostics[k].time);
        EXPECT_EQ(a.diagnostics[k].energy, b.diagnostics[k].energy) << "after burst " << k;
        EXPECT_EQ(a.diagnostics[k].virial_ratio, b.diagnostics[k].virial_ratio);
        EXPECT_EQ(a.diagnostics[k].momentum, b.diagnostics[k].momentum);
        EXPECT_EQ(a.diagnostics[k].angular_momentum, b.diagnostics[k].angular_momentum);
        EXPECT_EQ(a.diagnostics[k].center_of_mass, b.diagnostics[k].center_of_mass);
        EXPECT_EQ(a.diagnostics[k].lagrangian_radius, b.diagnostics[k].lagrangian_radius);
        EXPECT_EQ(a.audit[k].count, b.audit[k].count);
        EXPECT_EQ(a.audit[k].median, b.audit[k].median) << "after burst " << k;
        EXPECT_EQ(a.audit[k].p99, b.audit[k].p99);
        EXPECT_EQ(a.audit[k].max, b.audit[k].max);
    }
    EXPECT_EQ(a.counts.block_steps, b.counts.block_steps);
    EXPECT_EQ(a.counts.updates, b.counts.updates);
    EXPECT_EQ(a.counts.levels, b.counts.levels);
    EXPECT_EQ(a.interactions, b.interactions);
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.variant, b.variant);
}

inline const Leapfrog leapfrog{0.01};
inline AdaptiveSteps adaptive() {
    AdaptiveSteps steps;
    steps.dt_max = 0.05;
    steps.eta = 0.2;
    return steps;
}
inline BlockSteps blocks() {
    BlockSteps steps;
    steps.dt_max = 0.05;
    steps.eta = 0.2;
    return steps;
}

}  // namespace kasane::gravity
