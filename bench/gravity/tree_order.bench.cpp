// gravity.tree.order: targets along the curve against targets in random order.
#include <kasane/core/math/random.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kasane::bench {

using namespace gravity;

namespace {

/// All places but the last, in curve order or at random. Walks take a list of all places as the order of the tree.
std::vector<std::uint32_t> places(index_t n, bool sorted) {
    std::vector<std::uint32_t> place(static_cast<std::size_t>(std::max<index_t>(n - 1, 1)));
    std::iota(place.begin(), place.end(), 0U);
    if (!sorted)
        for (std::size_t k = place.size(); k > 1; --k)
            std::swap(place[k - 1], place[static_cast<std::size_t>(RandomStream(1, k).uniform() * static_cast<double>(k))]);
    return place;
}

template <Space S>
void run_order(const BenchmarkContext& context, S on, TreeProblems& problems) {
    for (const auto n : sizes_or(context, {1 << 15}, {1 << 20})) {
        const auto& problem = problems.get(context.space, TreeModel::nfw, n);
        const auto in_order = to_space(on, places(n, true)), at_random = to_space(on, places(n, false));
        for (const int leaf_size : {1, Tree{}.leaf_size}) {
            Tree options{.mac = GeometricMac{0.6},
                         .softening = problem.softening,
                         .G = problem.G,
                         .multipole = Multipole::monopole,
                         .curve = Curve::morton,
                         .leaf_size = leaf_size,
                         .walk = TreeWalk::links};
            options.vector = options.group = 1;
            TreeBed<S> bed(on, problem, options);
            bed.force.accelerate_first(bed.field());  // writes the particle that no list has
            double random_seconds = 0;
            for (const bool sorted : {false, true}) {
                const WalkTargets targets{(sorted ? in_order : at_random).view(), false, bed.size.view()};
                auto row = measure_walk(bed, bed.force.walk(), targets,
                                        fmt::format("gravity.tree.order, {}, leaf {}", sorted ? "sorted" : "random", leaf_size));
                if (!sorted) random_seconds = row.seconds;
                row.more.emplace_back("speedup", random_seconds / row.seconds);
                row.more.emplace_back("leaf_size", leaf_size);
                context.report(row);
            }
        }
    }
}

}  // namespace

Benchmark tree_order(const SharedProblems& problems) {
    return {
        "gravity.tree.order",
        "Targets sorted along Morton's curve against targets in random order, as [OMBMN12] section 3 quotes (about 2 times faster): NFW "
        "sphere, theta 0.6, monopoles, the walk `links` with V = G = 1, leaves of 1 particle, as in the paper, and of 32. The tree and the "
        "particles in it lie along the curve in both cases; the order decides which targets share a warp and a cache. `speedup` is over "
        "random order. The error is the 99th percentile of 1000 particles against direct summation in double.",
        [problems](const BenchmarkContext& context) { std::visit([&](auto on) { run_order(context, on, *problems); }, context.space); }};
}

}  // namespace kasane::bench
