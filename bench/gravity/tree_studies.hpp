// The studies of the tree code, one function each. They share their models.
#pragma once

#include <bench/gravity/tree_problem.hpp>

#include <memory>

namespace kasane::bench {

using SharedProblems = std::shared_ptr<TreeProblems>;

Benchmark tree_links(const SharedProblems& problems);
Benchmark tree_curve(const SharedProblems& problems);
Benchmark tree_order(const SharedProblems& problems);
Benchmark tree_accuracy(const SharedProblems& problems);
Benchmark tree_steps(const SharedProblems& problems);
Benchmark tree_techniques(const SharedProblems& problems);
Benchmark tree_active(const SharedProblems& problems);
Benchmark tree_scale(const SharedProblems& problems);
Benchmark tree_energy();
Benchmark tree_m31();
Benchmark tree_scaling();
Benchmark tree_large();
Benchmark tree_lets();

/// The accuracy of GOTHIC's measurements.
inline constexpr double typical_delta = 1. / 512;

/// The requested sizes, or the default sizes of this kind of device.
inline std::vector<index_t> sizes_or(const BenchmarkContext& context, const std::vector<index_t>& on_cpu,
                                     const std::vector<index_t>& on_gpu) {
    if (!context.sizes.empty()) return context.sizes;
    return std::holds_alternative<Cpu>(context.space) ? on_cpu : on_gpu;
}

}  // namespace kasane::bench
