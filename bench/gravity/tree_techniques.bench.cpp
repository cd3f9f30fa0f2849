// gravity.tree.techniques: the techniques of [Miki21] and the parameters of the walk, changed one at a time. CUDA only.
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::bench {

using namespace gravity;

namespace {

#if defined(KASANE_CUDA)
struct Technique {
    std::string name;
    WalkTuning tuning;
};

std::vector<Technique> techniques() {
    std::vector<Technique> all{{"as chosen", {}},
                               {"plain copy", {.async_copy = false}},
                               {"reduction by shuffles", {.warp_reduce = false}},
                               {"L2 10 MiB", {.l2_persist_mib = 10}},
                               {"L2 30 MiB", {.l2_persist_mib = 30}},
                               {"plain copy, L2 30 MiB", {.async_copy = false, .l2_persist_mib = 30}}};
    for (const int lanes : {2, 4, 8, 16}) all.push_back({fmt::format("lanes {}", lanes), {.lanes = lanes}});
    for (const int group : {8, 16, 32, 64}) all.push_back({fmt::format("group {}", group), {.group = group}});
    for (const double extent : {1.2, 2.0, 3.0}) all.push_back({fmt::format("group extent {}", extent), {.group_extent = extent}});
    for (const int list : {128, 256, 512, 1024}) all.push_back({fmt::format("list {}", list), {.list = list}});
    return all;
}

void run_techniques(const BenchmarkContext& context, Cuda on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, {}, {1 << 23})) {
        const auto& problem = problems.get(context.space, TreeModel::m31, n);
        TreeBed<Cuda> bed(on, problem, {.mac = AccelerationMac{typical_delta}, .softening = problem.softening, .G = problem.G});
        bed.first_force();
        std::vector<std::uint32_t> few;
        for (index_t k = 0; k < n; k += 1000) few.push_back(static_cast<std::uint32_t>(k));
        const auto index = to_space(on, few);
        const WalkTargets thinned{index.view(), false, bed.size.view()};
        double base = 0, base_few = 0;
        for (const auto& setting : techniques()) {
            bed.force.walk().tuning() = setting.tuning;
            auto row = measure_walk(bed, "gravity.tree.techniques, " + setting.name);
            const auto timing = time_calls(on, [&] { bed.force.accelerate(thinned, bed.field()); }, 3);
            if (base == 0) base = row.seconds, base_few = timing.seconds;
            row.more.emplace_back("speedup", base / row.seconds);
            row.more.emplace_back("seconds_few", timing.seconds);
            row.more.emplace_back("speedup_few", base_few / timing.seconds);
            context.report(row);
        }
    }
}
#endif

}  // namespace

Benchmark tree_techniques(const SharedProblems& problems) {
    return {
        "gravity.tree.techniques",
        "The walk `lists` with one technique of [Miki21] or one of its sizes changed at a time (CUDA alone): asynchronous copies into "
        "shared memory, particles kept in the L2 cache, reductions over a warp by hardware or by shuffles, lanes per target, "
        "targets per group, list length. Halo and bulge of M31, delta 2^-9, quadrupoles. `speedup` is over the walk's own choice for all "
        "particles, `speedup_few` for every thousandth. The error is the 99th percentile of 1000 particles against direct summation.",
        [problems]([[maybe_unused]] const BenchmarkContext& context) {
#if defined(KASANE_CUDA)
            if (const auto* on = std::get_if<Cuda>(&context.space)) run_techniques(context, *on, *problems);
#endif
        }};
}

}  // namespace kasane::bench
