// gravity.tree.curve: Morton order against Peano-Hilbert order.
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

namespace kasane::bench {

using namespace gravity;

namespace {

template <Space S>
void run_curve(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n :
         sizes_or(context, {1 << 13, 1 << 14, 1 << 15, 1 << 16}, {1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23})) {
        const auto& problem = problems.get(context.space, TreeModel::nfw, n);
        for (const auto kind : {TreeWalk::links, TreeWalk::lists}) {
            double morton = 0;
            for (const auto curve : {Curve::morton, Curve::hilbert}) {
                const Tree options{.mac = GeometricMac{0.6},
                                   .softening = problem.softening,
                                   .G = problem.G,
                                   .multipole = Multipole::monopole,
                                   .curve = curve,
                                   .walk = kind,
                                   .vector = 4,
                                   .group = 4};
                TreeBed<S> bed(on, problem, options);
                auto row = measure_walk(bed, fmt::format("gravity.tree.curve, {}, {}", name(kind), name(curve)));
                if (curve == Curve::morton) morton = row.seconds;
                row.more.emplace_back("speedup", morton / row.seconds);
                if (kind == TreeWalk::links) add_divergence(bed, options, row);
                context.report(row);
            }
        }
    }
}

}  // namespace

Benchmark tree_curve(const SharedProblems& problems) {
    return {
        "gravity.tree.curve",
        "Particles in Morton's order against the order of the Peano-Hilbert curve ([OMBMN12] figs. 11 and 13): NFW sphere, theta 0.6, "
        "monopoles; accelerations of all particles by the walks `links` (V = G = 4) and `lists`, the tree given. `speedup` is over "
        "Morton's order with the same walk; on a CUDA device `divergence` counts how often the lanes of a warp parted, per target. The "
        "error is the 99th percentile of 1000 particles against direct summation in double.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_curve(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
