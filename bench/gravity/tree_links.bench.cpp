// gravity.tree.links: the depth-first walk of [OMBMN12] over V targets per thread and G threads per group.
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

namespace kasane::bench {

using namespace gravity;

namespace {

template <Space S>
void run_links(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, {1 << 15}, {1 << 20})) {
        const auto& problem = problems.get(context.space, TreeModel::nfw, n);
        for (const int leaf_size : {Tree{}.leaf_size, 1}) {
            Tree options{.mac = GeometricMac{0.6},
                         .softening = problem.softening,
                         .G = problem.G,
                         .multipole = Multipole::monopole,
                         .curve = Curve::morton,
                         .leaf_size = leaf_size,
                         .walk = TreeWalk::links};
            TreeBed<S> bed(on, problem, options);
            const auto leaf = leaf_size == 1 ? "leaf 1, " : std::string();
            double base = 0;
            const auto report = [&](TreeWalk kind, const std::string& label, int vector, int group) {
                options.walk = kind, options.vector = vector, options.group = group;
                Walk<S> walk(on, options);
                auto row = measure_walk(bed, walk, "gravity.tree.links, " + leaf + label);
                if (base == 0) base = row.seconds;
                row.more.emplace_back("speedup", base / row.seconds);
                row.more.emplace_back("leaf_size", leaf_size);
                if (kind == TreeWalk::links) {
                    row.more.emplace_back("V", vector);
                    row.more.emplace_back("G", group);
                    add_divergence(bed, options, row);
                }
                context.report(row);
            };
            for (const int vector : {1, 2, 4, 8})
                for (const int group : {1, 2, 4, 8}) report(TreeWalk::links, fmt::format("V {}, G {}", vector, group), vector, group);
            report(TreeWalk::lists, "lists", 4, 4);
        }
    }
}

}  // namespace

Benchmark tree_links(const SharedProblems& problems) {
    return {
        "gravity.tree.links",
        "The walk along More and Next links: V targets of a thread and G threads take one decision ([OMBMN12] figs. 6, 7, 9 and 10). "
        "NFW sphere, theta 0.6, monopoles, Morton order; accelerations of all particles, the tree given; leaves of 32 particles, and of 1, "
        "as in the paper (`leaf 1`). `speedup` is over V = G = 1 with the same leaves; "
        "interactions and tests are per target, a test of a group counting once; on a CUDA device `divergence` counts how often the "
        "lanes of a warp parted, per target, and `lanes_busy` is the share that had a cell to test. The row `lists` is that walk "
        "on the same tree. The error is the 99th percentile of 1000 particles against direct summation in double.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_links(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
