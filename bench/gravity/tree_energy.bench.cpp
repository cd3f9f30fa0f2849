// gravity.tree.energy: the energy that tree forces add to a system in equilibrium, and its cause. docs/energy.md explains the results.
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/simulation.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double plummer_step = 0.21738;                             // of a Plummer sphere with E = -1/4: 2 sqrt(2) / 13
constexpr double run_softening = 0.0096, large_softening = 1. / 32;  // with the larger one a constant step of 1/64 conserves energy

constexpr index_t small = 1 << 16;  // direct summation for all particles at every step takes seconds

/// Kinetic energy and half the potential energy, pairs in double.
template <Space S>
double direct_energy(S on, const std::vector<Vec3<double>>& position, const std::vector<Vec3<double>>& velocity,
                     const std::vector<double>& mass, double softening) {
    const auto x = to_space(on, position);
    const auto m = to_space(on, mass);
    Buffer<double, S> phi(on, x.size());
    DirectSum<S>(on, {.softening = softening, .precision = Precision::double_})(x.view(), {x.view(), m.view()}, Self{0}, {{}, phi.view()});
    const auto potential = to_host(phi);
    double sum = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) sum += 0.5 * mass[i] * (dot(velocity[i], velocity[i]) + potential[i]);
    return sum;
}

/// A leapfrog with one constant step for all, whose tree is built for a chosen time.
struct Controlled {
    const char* name;
    Tree tree;
    int steps_per_tree;
    double built_for;            ///< position of the particles in the tree: steps after the first force that it serves
    bool present_sizes = false;  ///< the criterion takes |a| of the present time, by direct summation, not of the last step
};

template <Space S>
BenchmarkResult controlled_run(S on, const Particles& start, const Controlled& how) {
    constexpr int steps = 64;
    constexpr double dt = 1. / 64;
    const auto n = start.size();
    auto x = start.position, v = start.velocity;
    auto m = start.mass;
    std::vector<Vec3<float>> a(x.size());
    std::vector<float> size(x.size());
    TreeForce<S> force(on, how.tree);
    auto& octree = force.octree();
    const double before = direct_energy(on, x, v, m, large_softening);
    double walk_seconds = 0;
    const auto into_order = [](auto& of, const std::vector<std::uint32_t>& order) {
        const auto was = of;
        for (std::size_t k = 0; k < order.size(); ++k) of[k] = was[order[k]];
    };
    for (int step = 0; step <= steps; ++step) {
        if (step > 0)
            for (std::size_t i = 0; i < x.size(); ++i) {
                v[i] += 0.5 * dt * Vec3<double>{a[i].x, a[i].y, a[i].z};
                x[i] += dt * v[i];
            }
        if (step < 2 || (step - 1) % how.steps_per_tree == 0) {
            auto there = x;
            if (step > 0)
                for (std::size_t i = 0; i < x.size(); ++i) there[i] += how.built_for * dt * v[i];
            octree.sort(to_space(on, there).view(), to_space(on, m).view());
            std::vector<std::uint32_t> order(x.size());
            copy_to_host(on, view(order), octree.order());
            into_order(x, order);
            into_order(v, order);
            into_order(m, order);
            into_order(size, order);
            octree.build();
        }
        octree.place(to_space(on, x).view(), to_space(on, m).view());
        octree.refresh();
        if (how.present_sizes) {
            const auto at = to_space(on, x);
            const auto mass = to_space(on, m);
            Buffer<Vec3<double>, S> exact(on, n);
            DirectSum<S>(on, {.softening = large_softening})(at.view(), {at.view(), mass.view()}, Self{0}, {exact.view(), {}});
            const auto present = to_host(exact);
            for (std::size_t i = 0; i < x.size(); ++i) size[i] = static_cast<float>(std::sqrt(dot(present[i], present[i])));
        }
        Buffer<Vec3<float>, S> found(on, n);
        const auto sizes = to_space(on, size);
        synchronize(on);
        const Stopwatch watch;
        if (step == 0)
            force.accelerate_first({found.view(), {}});
        else
            force.accelerate({{}, true, sizes.view()}, {found.view(), {}});
        synchronize(on);
        if (step > 0) walk_seconds += watch.seconds();
        a = to_host(found);
        for (std::size_t i = 0; i < x.size(); ++i) {
            size[i] = std::sqrt(dot(a[i], a[i]));
            if (step > 0) v[i] += 0.5 * dt * Vec3<double>{a[i].x, a[i].y, a[i].z};
        }
    }
    BenchmarkResult row;
    row.name = fmt::format("gravity.tree.energy, constant steps, {}", how.name);
    row.n = n;
    row.seconds = walk_seconds / steps;
    row.rate = static_cast<double>(n) / row.seconds;
    row.unit = "updates/s";
    row.more = {{"energy_change", (direct_energy(on, x, v, m, large_softening) - before) / before}, {"span", steps * dt}};
    return row;
}

template <Space S>
BenchmarkResult run_of(S on, const Particles& start, const std::string& name, const Force& force, const Steps& steps, int macro_steps) {
    Simulation sim(on, start, {.force = force, .step = steps});
    const double before = direct_energy(on, start.position, start.velocity, start.mass, run_softening);
    const Stopwatch watch;
    sim.step(macro_steps);
    const double seconds = watch.seconds();
    const auto counts = sim.step_counts();
    const auto audit = sim.audit(TreeProblems::audited);
    const auto& end = sim.particles();
    BenchmarkResult row;
    row.name = "gravity.tree.energy, " + name;
    row.n = sim.size();
    row.seconds = seconds / static_cast<double>(counts.block_steps);
    row.rate = counts.updates / seconds;
    row.unit = "updates/s";
    row.error = audit.p99;
    row.more = {{"energy_change", (direct_energy(on, end.position, end.velocity, end.mass, run_softening) - before) / before},
                {"span", sim.time()},
                {"total_seconds", seconds},
                {"rebuilds", static_cast<double>(counts.rebuilds)},
                {"median_error", audit.median}};
    return row;
}

template <Space S>
void run(const BenchmarkContext& context, S on) {
    for (const auto n : sizes_or(context, {1 << 14}, {1 << 16, 1 << 20})) {
        const auto start = plummer({.count = n});
        const Tree tree{.mac = AccelerationMac{typical_delta}, .softening = run_softening};
        const Tree coarse{.mac = AccelerationMac{4 * typical_delta}, .softening = large_softening};
        Tree each = coarse;
        each.walk = TreeWalk::links;
        each.vector = each.group = 1;
        for (const Controlled& how :
             {Controlled{"a tree for each step", coarse, 1, 0}, Controlled{"4 steps a tree, built for the first", coarse, 4, 0},
              Controlled{"4 steps a tree, built for their mean time", coarse, 4, 1.5},
              Controlled{"4 steps a tree, built for the last", coarse, 4, 3},
              Controlled{"4 steps a tree, built for the first, no groups", each, 4, 0}})
            context.report(controlled_run(on, start, how));
        if (n <= small)
            context.report(controlled_run(on, start, {"4 steps a tree, built for the first, present accelerations", coarse, 4, 0, true}));

        const int macro_steps = std::holds_alternative<Cpu>(context.space) ? 8 : 40;
        BlockSteps blocks;
        blocks.dt_max = plummer_step;
        AdaptiveSteps shared;
        shared.dt_max = plummer_step;
        const auto with = [&](const Mac& mac) {
            auto changed = tree;
            changed.mac = mac;
            return changed;
        };
        context.report(run_of(on, start, "block steps", tree, blocks, macro_steps));
        context.report(run_of(on, start, "block steps, delta 2^-11", with(AccelerationMac{typical_delta / 4}), blocks, macro_steps));
        context.report(run_of(on, start, "block steps, theta 0.75", with(GeometricMac{0.75}), blocks, macro_steps));
        context.report(run_of(on, start, "shared steps", tree, shared, std::min(macro_steps, 8)));
        if (n <= small)
            context.report(run_of(on, start, "block steps, direct summation", Direct{.softening = run_softening}, blocks, macro_steps));
    }
}

}  // namespace

Benchmark tree_energy() {
    return {
        "gravity.tree.energy",
        "Relative change of the total energy of a Plummer sphere in equilibrium (G = M = 1, E = -1/4, eps 0.0096; negative: the particles "
        "gain energy), delta 2^-9 and quadrupoles unless the row says otherwise. Energies are direct sums in double at the "
        "start and the end of `span`. Rows with constant steps (1/64, eps 1/32, delta 2^-7) choose the time for which a tree is built; all "
        "other rows are simulations with default options. The error is the 99th percentile of 1000 particles against direct summation in "
        "double.",
        [](const BenchmarkContext& context) { std::visit([&](auto on) { run(context, on); }, context.space); }};
}

}  // namespace kasane::bench
