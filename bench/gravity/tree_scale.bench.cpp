// gravity.tree.scale: time of every part of a force against the number of particles, and its memory.
#include <kasane/gravity/simulation.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

namespace kasane::bench {

using namespace gravity;

namespace {

std::vector<index_t> doublings(int first, int last) {
    std::vector<index_t> sizes;
    for (int k = first; k <= last; ++k) sizes.push_back(index_t{1} << k);
    return sizes;
}

template <Space S>
void run_scale(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, doublings(14, 18), doublings(17, 27))) {
        Tree options{.mac = AccelerationMac{typical_delta}, .G = 1};
        const auto memory = simulation_memory(on, n, options);
        const auto needed = std::same_as<S, Cpu> ? memory.host_bytes : memory.device_bytes;
        if (needed > available_memory(on)) break;  // larger sizes do not fit either
        const auto& problem = problems.get(context.space, TreeModel::m31, n);
        options.softening = problem.softening, options.G = problem.G;
        TreeBed<S> bed(on, problem, options);
        bed.first_force();
        auto& octree = bed.force.octree();
        auto row = measure_walk(bed, "gravity.tree.scale");
        const auto seconds = [&](const auto& part) { return time_calls(on, part, 3).seconds; };
        const double sort = seconds([&] { octree.sort(bed.position.view(), bed.mass.view()); });
        const double build = seconds([&] { octree.build(); });
        const double place = seconds([&] { octree.place(bed.position.view(), bed.mass.view()); });
        const double moments = seconds([&] { octree.refresh(); });
        const double walk = row.seconds;
        row.seconds = sort + build + place + moments + walk;
        const auto per_particle = [&](std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(n); };
        row.more.insert(row.more.begin(), {{"sort_seconds", sort},
                                           {"build_seconds", build},
                                           {"place_seconds", place},
                                           {"moments_seconds", moments},
                                           {"walk_seconds", walk},
                                           {"tree_bytes", per_particle(tree_memory(on, n, options))},
                                           {"bytes", per_particle(needed)}});
        context.report(row);
    }
}

}  // namespace

Benchmark tree_scale(const SharedProblems& problems) {
    return {"gravity.tree.scale",
            "Keys and sort, cells, bodies, moments and the walk for all particles, each alone, against N: halo and bulge of M31, delta "
            "2^-9, quadrupoles; the particles are already in order before the sort. The time is the sum, the rate that of the walk. "
            "`tree_bytes` is the memory per particle of tree and walk, `bytes` that of a whole "
            "simulation on the device. The error is the 99th percentile of 1000 particles against direct summation in double.",
            [problems](const BenchmarkContext& context) {
                std::visit([&](auto on) { run_scale(context, on, *problems); }, context.space);
                problems->clear();
            }};
}

}  // namespace kasane::bench
