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
        struct Case {
            TreeWalk walk;
            int leaf_size;
        };
        for (const auto& [kind, leaf_size] :
             {Case{TreeWalk::links, Tree{}.leaf_size}, {TreeWalk::links, 1}, {TreeWalk::lists, Tree{}.leaf_size}}) {
            double morton = 0;
            for (const auto curve : {Curve::morton, Curve::hilbert}) {
                const Tree options{.mac = GeometricMac{0.6},
                                   .softening = problem.softening,
                                   .G = problem.G,
                                   .multipole = Multipole::monopole,
                                   .curve = curve,
                                   .leaf_size = leaf_size,
                                   .walk = kind,
                                   .vector = 4,
                                   .group = 4};
                TreeBed<S> bed(on, problem, options);
                auto row = measure_walk(
                    bed, fmt::format("gravity.tree.curve, {}{}, {}", name(kind), leaf_size == 1 ? ", leaf 1" : "", name(curve)));
                if (curve == Curve::morton) morton = row.seconds;
                row.more.emplace_back("speedup", morton / row.seconds);
                row.more.emplace_back("leaf_size", leaf_size);
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
        "monopoles; accelerations of all particles by the walks `links` (V = G = 4; leaves of 32 particles, and of 1, as in the paper) and "
        "`lists`, the tree given. `speedup` is over "
        "Morton's order with the same walk and leaves; on a CUDA device `divergence` counts how often the lanes of a warp parted, per "
        "target. The "
        "error is the 99th percentile of 1000 particles against direct summation in double.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_curve(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
