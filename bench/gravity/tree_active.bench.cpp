// gravity.tree.active: time of a step with few active particles.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>
#include <kasane/gravity/step/motion.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasane::bench {

using namespace gravity;

namespace {

/// Particles in the order in which block steps make them active: those with the shortest eps/|v| and sqrt(eps/|a|) first.
template <Space S>
std::vector<std::uint32_t> by_step(const TreeBed<S>& bed) {
    const auto a = bed.sizes();
    const double eps = bed.problem.softening;
    std::vector<double> step(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        const auto& v = bed.problem.particles.velocity[bed.order[k]];
        step[k] = std::min(eps / std::sqrt(dot(v, v)), std::sqrt(eps / static_cast<double>(a[k])));
    }
    std::vector<std::uint32_t> place(a.size());
    std::iota(place.begin(), place.end(), 0U);
    std::sort(place.begin(), place.end(), [&](auto i, auto j) { return step[i] < step[j]; });
    return place;
}

template <Space S>
void run_active(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, {1 << 17}, {1 << 23})) {
        const auto& problem = problems.get(context.space, TreeModel::m31, n);
        TreeBed<S> bed(on, problem, {.mac = AccelerationMac{typical_delta}, .softening = problem.softening, .G = problem.G});
        bed.first_force();
        const auto place = by_step(bed);
        const auto errors = bed.errors();
        auto& octree = bed.force.octree();
        const auto refresh = time_calls(on, [&] { octree.refresh(); }, 3);
        KeptNodes<S> nodes(on);
        std::vector<Vec3<double>> velocities;
        for (const auto i : bed.order) velocities.push_back(problem.particles.velocity[i]);
        auto velocity = to_space(on, velocities);
        Workspace<S> work(on);
        Buffer<std::uint8_t, S> flag(on, n);
        Buffer<std::uint32_t, S> list(on, n), selected(on, 1);
        Buffer<float, S> size(on, n);
        Buffer<StepReport::Word, S> report(on, StepReport::words);
        reset_report(on, report.view());
        double full = 0;
        for (const double fraction : {1.0, 0.1, 0.01, 0.001}) {
            const auto active = std::max<index_t>(1, std::llround(fraction * static_cast<double>(n)));
            std::vector<std::uint32_t> chosen(place.begin(), place.begin() + active);
            std::sort(chosen.begin(), chosen.end());
            const auto index = to_space(on, chosen);
            const WalkTargets targets{index.view(), active == n, bed.size.view()};
            std::vector<std::uint8_t> levels(static_cast<std::size_t>(n));
            for (const auto k : chosen) levels[k] = 1;
            auto level = to_space(on, levels);
            const MovingBodies bodies{View<const Vec3<double>>(velocity.view()), bed.acceleration.view(), level.view(), {}, 1};
            octree.refresh();
            const auto begin = time_calls(on, [&] { nodes.begin(octree, bodies); }, 3);
            // A step of length 0, which all particles on level 1 end: no particle moves.
            const bool all = active == n, few = few_active(active, n);
            const BlockStep block(TimeGrid{0, 1}, 0, 1, 1, 0);
            const Motion<Vec3<float>> motion{bed.position.view(), velocity.view(), bed.acceleration.view(), level.view()};
            const PredictBodies place_bodies{octree.bodies(), bed.mass.view(), octree.frame().center, 1 / octree.frame().length,
                                             1 / octree.frame().mass};
            const auto predict_bodies = [&] {
                const auto ends = all ? View<std::uint8_t>{} : flag.view();
                const auto out = list.view();
                if (few) {
                    const auto from = nodes.kicked_bodies();
                    advance(on, motion, block, ends, PredictKicked{place_bodies, from});
                    select_flagged(on, work, from, View<const std::uint8_t>(ends.subview(0, from.n)), out, selected.view());
                } else {
                    advance(on, motion, block, ends, place_bodies);
                    if (!all) select_flagged(on, work, View<const std::uint8_t>(ends), out, selected.view());
                }
            };
            const auto make_nodes = [&] { few ? nodes.move(octree, 0) : octree.refresh(); };
            const auto correct = [&] {
                finish(on, motion, block, all ? View<const std::uint32_t>{} : index.view(), {}, size.view(), nullptr, report.view());
            };
            const auto predict = time_calls(on, predict_bodies, 3);
            const auto move = time_calls(on, make_nodes, 3);
            const auto walk = time_calls(on, [&] { bed.force.accelerate(targets, bed.field()); }, 3);
            const auto correction = time_calls(on, correct, 3);
            const auto step = time_calls(
                on,
                [&] {
                    predict_bodies();
                    make_nodes();
                    bed.force.accelerate(targets, bed.field());
                    correct();
                },
                3);
            if (full == 0) full = step.seconds;
            bed.force.walk().counts();
            bed.force.accelerate(targets, bed.field());
            const auto counts = bed.force.walk().counts();

            BenchmarkResult row;
            row.name = fmt::format("gravity.tree.active, {:g} active", fraction);
            row.n = n;
            row.seconds = step.seconds;
            row.spread = step.spread;
            row.rate = counts.interactions() / walk.seconds;
            row.unit = "interactions/s";
            row.error = errors.p99;
            row.more = {{"fraction", fraction},
                        {"share_of_full", step.seconds / full},
                        {"predict_seconds", predict.seconds},
                        {"refresh_seconds", refresh.seconds},
                        {"begin_seconds", begin.seconds},
                        {"move_seconds", move.seconds},
                        {"walk_seconds", walk.seconds},
                        {"correct_seconds", correction.seconds},
                        {"interactions", counts.interactions() / static_cast<double>(active)},
                        {"tests", counts.tests / static_cast<double>(active)},
                        {"targets_per_group", static_cast<double>(active) / counts.groups},
                        {"median_error", errors.median},
                        {"p99_error", errors.p99}};
            context.report(row);
        }
    }
}

}  // namespace

Benchmark tree_active(const SharedProblems& problems) {
    return {
        "gravity.tree.active",
        "A block step in which a fraction of the particles is active, those with the shortest steps: prediction and choice of the active "
        "ones (with few, of the positions of kicked particles alone), moments (with few, nodes without active particles moved, the others "
        "computed anew), the walk for the active ones, and their correction. `begin_seconds`, once for several steps, gives nodes and "
        "bodies their velocities. Halo and bulge of M31, delta 2^-9, quadrupoles. `share_of_full` is the time over that of a step of all "
        "particles. The error, 99th percentile of 1000 particles, is of the walk for all.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_active(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
