// A simulation on all workers of a communicator. The root rank has the Simulation; the other ranks are in worker_loop() meanwhile, which
// executes what the root rank's calls ask for.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>

#include <vector>

namespace kasane::gravity {

/// Direct summation on all workers, each with its slab of the particles. On the root rank, while every other rank calls worker_loop().
/// Results are the bits of one worker, for any number of workers of one kind of space.
/// @param communicator  must outlive the simulation   @param here  the spaces of this rank's workers   @param particles  all of them
/// @throws InputError as Simulation, and for a tree; it names the rank that has the problem
Simulation distributed_simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                  const SimulationOptions& options, const Exchange& exchange = {});

/// The part of a rank other than the root rank in a distributed_simulation(): returns when the root rank's Simulation is destroyed, or
/// could not be made. An error that every worker throws (a run that blew up) is reported by the root rank; here the next command is
/// awaited.
void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// How the workers of a simulation exchange their particles; on one device: no engine.
ExchangeUsed exchange_used(const Simulation& simulation);

}  // namespace kasane::gravity
