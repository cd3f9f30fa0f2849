// The model of the time of a longest step of a tree run on any number of workers: a line for each part of a step through the measured
// times of two small systems of the same kind, the interactions of the larger one, and the sizes of locally essential trees (LETs) measured
// on workers of the CPU; docs/performance-model.md.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/gravity/simulation.hpp>

#include <array>

namespace kasane::gravity {

/// Parts of a step: walks; moments; trees; prediction, correction and the rest.
inline constexpr std::size_t tree_parts = 4;
inline constexpr std::array<const char*, tree_parts> tree_part_names{"walk", "moments", "tree", "step"};

/// Means of the measured longest steps of a small system on one device.
struct TreePilot {
    index_t particles = 0;
    double block_steps = 0;                    ///< in a longest step; 1 with constant steps
    double updates = 0;                        ///< particles advanced in a longest step
    double interactions = 0;                   ///< of the walks of a longest step
    std::array<double, tree_parts> seconds{};  ///< of a longest step, by part
    bool geometric = false;                    ///< a geometric criterion: interactions grow with the logarithm of the number of particles
    double full_lets = 1;                      ///< block steps in which more than 1/16 of the particles are active
};

/// Measures longest steps, after one that includes the first force.
/// @param seconds  approximate time of the measurement; at least two longest steps are taken
TreePilot measure_tree(const AnySpace& on, const Particles& particles, const Tree& force, const Steps& steps, double seconds);

/// Sizes of the LETs that a worker with n particles receives for a force on all: n^(2/3) (two + doubling (log2 P - 1)) bytes on P workers.
struct LetSize {
    double two = 0, doubling = 0;
    double bytes(double own, int workers) const;
};

/// Measures the LETs of 2, 4 and 8 workers, threads of the CPU, each with a part of the particles.
LetSize measure_lets(const Particles& particles, const Tree& force);

/// The time of a longest step.
struct TreeStepTime {
    std::array<double, tree_parts> seconds{};  ///< by part, on one worker
    double messages = 0;                       ///< seconds of messages and reductions
    double block_steps = 0, interactions = 0;  ///< interactions: of all workers
    double bytes = 0;                          ///< received by a worker
    double count = 0;                          ///< messages received by a worker
    double total() const;
};

/// @param small, large  pilots of two different numbers of particles   @param n  particles of all workers
/// @param link  not used with one worker
TreeStepTime tree_step_time(const TreePilot& small, const TreePilot& large, const LetSize& lets, double n, int workers,
                            const LinkTime& link);

}  // namespace kasane::gravity
