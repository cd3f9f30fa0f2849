// The studies of galaxies in equilibrium, one function each.
#pragma once

#include <kasane/perf/benchmark.hpp>

namespace kasane::bench {

Benchmark galaxy_sample();
Benchmark galaxy_equilibrium_spheres();
Benchmark galaxy_equilibrium_galaxies();

}  // namespace kasane::bench
