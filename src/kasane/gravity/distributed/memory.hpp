// Memory of a simulation on many workers.
#pragma once

#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>

#include <vector>

namespace kasane::gravity {

/// Estimates the memory of one worker, like simulation_memory(). The host of worker 0 also holds all particles where there is one rank; on
/// several ranks the host of each rank's first worker holds the slab of the rank.
/// @param per_rank  workers of a rank   @param apart  devices with trees walk LETs apart from the own tree: in block steps of few
/// particles, and always between ranks
SimulationMemory worker_memory(const AnySpace& kind, index_t n, const Force& force, const Exchange& exchange, int workers, int worker,
                               int per_rank, bool apart = true);
/// Checks the memory of the workers of one rank, like check_memory().
/// @param first  number of the rank's first worker in the communicator   @param sharing  ranks that share this host's memory
/// @param taken  bytes of the host that the rank's particles have already
void check_worker_memory(const std::vector<AnySpace>& here, index_t n, const Force& force, const Exchange& exchange, int workers, int first,
                         int sharing, std::uint64_t taken = 0);

}  // namespace kasane::gravity
