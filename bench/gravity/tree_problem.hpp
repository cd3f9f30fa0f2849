// Common parts of the studies of the tree code: models with the exact forces of a sample of their particles, and a tree with its
// particles in curve order on one space, for walks and measurements.
// Invariants: a model is sampled once for consecutive studies of one kind and size; errors are |a - a_ref| / |a_ref| against direct
// summation in double over evenly spread particles, with the positions of the model (not those that the tree rounds).
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/tree/tree_force.hpp>
#include <kasane/perf/benchmark.hpp>

#include <memory>
#include <vector>

namespace kasane::bench {

enum class TreeModel {
    nfw,  ///< NFW sphere of unit mass and scale, cut at ten scales (the distribution of [OMBMN12]); eps 1/128
    m31,  ///< the spheres of models/m31.toml with its softening, 1/64 kpc
};

/// A model with a reference for its forces.
struct TreeProblem {
    gravity::Particles particles;  ///< not in curve order
    double softening = 0, G = 1;
    index_t stride = 1;               ///< particles 0, stride, 2 stride, ... are audited
    std::vector<Vec3<double>> exact;  ///< accelerations of the audited particles by direct summation in double
};

/// Samples models and keeps the last one of each kind for the next study.
class TreeProblems {
   public:
    static constexpr index_t audited = 1000;

    /// Returns a model. The reference forces are computed on `on`.
    const TreeProblem& get(const AnySpace& on, TreeModel model, index_t n);
    /// Frees the memory of all models.
    void clear() { last_.clear(); }

   private:
    struct Kept {
        TreeModel model;
        TreeProblem problem;
    };
    std::vector<std::unique_ptr<Kept>> last_;
};

/// Relative errors of a sample of forces.
struct ForceErrors {
    double median = 0, p99 = 0, max = 0;
};
ForceErrors force_errors(const std::vector<Vec3<double>>& exact, const std::vector<Vec3<double>>& found);

/// A tree over the particles of a problem, which are stored in its order on the space.
template <Space S>
struct TreeBed {
    /// Sorts the particles, builds the tree and computes its moments, without a walk. @param problem must outlive the bed
    TreeBed(S on, const TreeProblem& problem, const gravity::Tree& options);

    /// Computes the forces and keeps |a| for the acceleration criterion, like a run after its first step.
    void first_force();
    gravity::WalkField field() { return {acceleration.view(), {}}; }
    /// All particles are targets.
    gravity::WalkTargets all_targets() const { return {{}, true, size.view()}; }

    /// Errors of the last accelerations.
    ForceErrors errors() const;
    /// |a| of every particle, in the tree's order.
    std::vector<float> sizes() const;
    index_t count() const { return position.size(); }

    S on;
    const TreeProblem& problem;
    gravity::Tree options;
    gravity::TreeForce<S> force;
    std::vector<std::uint32_t> order;  ///< particle at each place
    Buffer<Vec3<double>, S> position;
    Buffer<double, S> mass;
    Buffer<Vec3<float>, S> acceleration;
    Buffer<float, S> size;              ///< |a| from the last force; empty before first_force()
    std::vector<std::uint32_t> sample;  ///< places of the audited particles
};

/// A row of a study with the time of a walk for these targets, its errors and its counts. A profiler that records only what the program
/// asks for (core/device/profile.hpp) sees one walk for each row.
/// more: median_error, p99_error, interactions, bodies, cells, tests (each per target), targets_per_group.
template <Space S>
BenchmarkResult measure_walk(TreeBed<S>& bed, gravity::Walk<S>& walk, const gravity::WalkTargets& targets, const std::string& name);
/// ... for all particles.
template <Space S>
BenchmarkResult measure_walk(TreeBed<S>& bed, gravity::Walk<S>& walk, const std::string& name) {
    return measure_walk(bed, walk, bed.all_targets(), name);
}
template <Space S>
BenchmarkResult measure_walk(TreeBed<S>& bed, const std::string& name) {
    return measure_walk(bed, bed.force.walk(), name);
}

/// Adds `divergence`, the number of divergences of warps per target, and `lanes_busy`, the fraction of lanes that had a node to test, of
/// the CUDA walk `links` with these options. Adds nothing on the CPU.
template <Space S>
void add_divergence(TreeBed<S>& bed, const gravity::Tree& options, BenchmarkResult& row);

}  // namespace kasane::bench
