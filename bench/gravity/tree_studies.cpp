#include <bench/benchmarks.hpp>
#include <bench/gravity/tree_studies.hpp>

namespace kasane::bench {

std::vector<Benchmark> gravity_tree_studies() {
    const auto problems = std::make_shared<TreeProblems>();
    return {tree_links(problems),
            tree_curve(problems),
            tree_order(problems),
            tree_accuracy(problems),
            tree_steps(problems),
            tree_techniques(problems),
            tree_active(problems),
            tree_scale(problems),
            tree_energy(),
            tree_m31(),
            tree_scaling(),
            tree_large(),
            tree_lets()};
}

}  // namespace kasane::bench
