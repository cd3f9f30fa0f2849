#include <bench/benchmarks.hpp>
#include <bench/gravity/galaxy_studies.hpp>

namespace kasane::bench {

std::vector<Benchmark> gravity_galaxy() { return {galaxy_sample(), galaxy_equilibrium_spheres(), galaxy_equilibrium_galaxies()}; }

}  // namespace kasane::bench
