// Every benchmark of the house.
#pragma once

#include <kasane/perf/benchmark.hpp>

namespace kasane::bench {

std::vector<Benchmark> gravity_direct();

inline std::vector<Benchmark> all() { return gravity_direct(); }

}  // namespace kasane::bench
