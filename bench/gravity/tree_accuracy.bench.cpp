// gravity.tree.accuracy: time of a walk against the error of the forces.
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

template <Space S>
void run_accuracy(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, {1 << 16}, {1 << 23})) {
        const auto& problem = problems.get(context.space, TreeModel::m31, n);
        for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) {
            TreeBed<S> bed(on, problem,
                           {.mac = AccelerationMac{typical_delta}, .softening = problem.softening, .G = problem.G, .multipole = multipole});
            bed.first_force();
            for (int k = 3; k <= 13; ++k) {
                const double delta = std::ldexp(1.0, -k);
                bed.force.octree().set_mac(AccelerationMac{delta});
                auto row = measure_walk(bed, fmt::format("gravity.tree.accuracy, {}, delta 2^-{}", name(multipole), k));
                row.more.emplace_back("delta", delta);
                context.report(row);
            }
        }
    }
}

}  // namespace

Benchmark tree_accuracy(const SharedProblems& problems) {
    return {
        "gravity.tree.accuracy",
        "Time of a walk for all particles against delta of the acceleration criterion ([Miki21] fig. 4), with monopoles and with "
        "quadrupoles: halo and bulge of M31, eps 1/64 kpc, the tree and the last acceleration given. Interactions are per target: the "
        "length of its group's lists. The error is the 99th percentile of 1000 particles against direct summation in double.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_accuracy(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
