// Memory of a simulation on many workers.
#pragma once

#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>

#include <vector>

namespace kasane::gravity {

/// Memory of one worker, as simulation_memory(); the host of worker 0 holds all particles besides.
SimulationMemory worker_memory(const AnySpace& kind, index_t n, const Direct& force, const Exchange& exchange, int workers, int worker);
/// Checks the memory of the workers of one rank, number `first` and the following ones of the communicator, as check_memory().
/// @param sharing  ranks that share this host's memory
void check_worker_memory(const std::vector<AnySpace>& here, index_t n, const Direct& force, const Exchange& exchange, int workers,
                         int first, int sharing);

}  // namespace kasane::gravity
