// A simulation on all workers of a communicator. The root rank has the Simulation; the other ranks call worker_loop(), which executes the
// commands that the root rank broadcasts.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/domain/worker_load.hpp>
#include <kasane/gravity/simulation.hpp>

#include <vector>

namespace kasane::gravity {

/// Makes a simulation on all workers. Only the root rank calls this; every other rank calls worker_loop(). With direct summation each
/// worker has a slab of the particles, and results are the same bits for any number of workers on one kind of space. With a tree each has a
/// domain along the curve; forces have the errors of one worker, and depend on the number of workers within them. A tree makes its
/// decisions as with `deterministic`.
/// @param communicator  must outlive the simulation   @param here  the spaces of this rank's workers   @param particles  all of them
/// @throws InputError as Simulation; the message has the rank with the problem
Simulation distributed_simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                  const SimulationOptions& options, const Exchange& exchange = {});

/// Executes the commands of the root rank; for all ranks but the root rank. Returns when the root rank's Simulation is destroyed or could
/// not be made. The root rank reports an error that every worker throws (a run that blew up), and this loop waits for the next command.
void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// Engine and form with which the workers of a simulation exchange particles; on one device the engine is empty.
ExchangeUsed exchange_used(const Simulation& simulation);

/// Particles and work of each worker of a tree, since the simulation was made; empty with direct summation and on one device.
std::vector<WorkerLoad> worker_loads(const Simulation& simulation);

}  // namespace kasane::gravity
