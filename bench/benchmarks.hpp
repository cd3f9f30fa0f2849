// The benchmarks of `kasane bench`, one function for each group.
#pragma once

#include <kasane/perf/benchmark.hpp>

#include <utility>

namespace kasane::bench {

std::vector<Benchmark> gravity_direct();
std::vector<Benchmark> gravity_direct_scaling();
std::vector<Benchmark> gravity_tree();
std::vector<Benchmark> gravity_tree_studies();
std::vector<Benchmark> gravity_galaxy();
std::vector<Benchmark> sparse_studies();
std::vector<Benchmark> lattice_studies();

/// All benchmarks, in the order of `kasane bench --list`.
inline std::vector<Benchmark> all() {
    std::vector<Benchmark> all;
    for (const auto& some : {gravity_direct(), gravity_direct_scaling(), gravity_tree(), gravity_tree_studies(), gravity_galaxy(),
                             sparse_studies(), lattice_studies()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

}  // namespace kasane::bench
