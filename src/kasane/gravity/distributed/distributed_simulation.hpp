// A simulation on all workers of a communicator. The root rank has the Simulation; the other ranks call worker_loop(), which executes the
// commands that the root rank broadcasts.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/distributed/rank_slab.hpp>
#include <kasane/gravity/domain/worker_load.hpp>
#include <kasane/gravity/simulation.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

/// Makes a simulation on all workers. Only the root rank calls this; every other rank calls worker_loop(). With direct summation each
/// worker has a slab of the particles, and results have the same bits for any number of workers on one kind of space. With a tree each has
/// a domain along the curve; forces have the errors of one worker, and depend on the number of workers within them. A tree makes its
/// decisions as with `deterministic`.
/// @param communicator  must outlive the simulation   @param here  the spaces of this rank's workers   @param particles  all of them
/// @throws InputError as Simulation; the message has the rank with the problem
Simulation distributed_simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                  const SimulationOptions& options, const Exchange& exchange = {});

/// First particle of the slab of each rank, and the number of all particles. @param kind  of the spaces of all workers
std::vector<index_t> rank_bounds(comm::WorkerCommunicator& communicator, const AnySpace& kind, const Force& force, index_t total);

/// Work of a rank on its slab, which the root rank describes in a text. The work may continue in a thread that reads the slab. An empty
/// text marks the end of the slabs: the task then waits for such a thread and throws nothing.
using SlabTask = std::function<void(const RankSlabs& slabs, const std::string& text)>;

/// The particles of all ranks in slabs, on the root rank; every other rank calls worker_loop() with its slab.
class SlabParticles {
   public:
    /// Collective with the worker_loop() of the other ranks.
    /// @param communicator  must outlive this   @param here  the spaces of this rank's workers   @param slab  of this rank, as
    /// rank_bounds() divides the particles for the simulation that follows   @param task  of the root rank
    /// @throws InputError on every rank: unusable particles
    SlabParticles(comm::WorkerCommunicator& communicator, std::vector<AnySpace> here, RankSlab slab, SlabTask task);
    /// Ends the worker loops of the other ranks.
    ~SlabParticles();
    SlabParticles(const SlabParticles&) = delete;
    SlabParticles& operator=(const SlabParticles&) = delete;

    const SlabFacts& facts() const { return slabs_->facts(); }
    index_t size() const { return slabs_->total(); }
    /// The rows first, first + 1, ..., first + n - 1 of a column, at the last take_back(). @param to  [n]
    template <class T>
    void rows(Column column, index_t first, View<T> to) const {
        KS_EXPECT(bytes_of(column) == sizeof(T));
        rows(column, first, to.n, to.ptr);
    }
    /// The same with the memory of n values.
    void rows(Column column, index_t first, index_t n, void* to) const;
    /// Largest host memory of the process of each rank so far [byte].
    std::vector<std::uint64_t> peak_memory() const;
    /// Executes the task of every rank with this text. @throws what the task throws, which it must throw on all ranks alike
    void run(const std::string& text) const;

    /// The slabs as this rank holds them.
    RankSlabs& slabs() const { return *slabs_; }
    comm::WorkerCommunicator& communicator() const { return communicator_; }
    const std::vector<AnySpace>& here() const { return here_; }

   private:
    comm::WorkerCommunicator& communicator_;
    std::vector<AnySpace> here_;
    std::unique_ptr<RankSlabs> slabs_;
    SlabTask task_;
};

/// Makes a simulation of particles in slabs. No rank has all particles until Simulation::particles(), copy_state(), acceleration() or
/// potential() is called, which gather them on the root rank. Where the softening is 0, steps have a criterion and no length is given, the
/// root rank takes positions and masses of all particles for a moment, to find their mean distance.
/// @param options  `state.acceleration` and `state.order` are not used: the slabs have the accelerations
/// @throws InputError as Simulation; the message has the rank with the problem
Simulation distributed_simulation(std::shared_ptr<SlabParticles> particles, const SimulationOptions& options,
                                  const Exchange& exchange = {});
/// Takes the present state back to the slabs. @return whether all positions and velocities are finite
bool take_back(const Simulation& simulation);

/// Executes the commands of the root rank on a slab. Returns when the root rank's SlabParticles are destroyed, or the slabs cannot be used.
void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, RankSlab slab, const SlabTask& task);

/// Executes the commands of the root rank; for all ranks but the root rank. Returns when the root rank's Simulation is destroyed or could
/// not be made. The root rank reports an error that every worker throws (a run that blew up), and this loop waits for the next command.
void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// Engine and form with which the workers of a simulation exchange particles; on one device the engine is empty.
ExchangeUsed exchange_used(const Simulation& simulation);

/// Particles and work of each worker of a tree, since the simulation was made; empty with direct summation and on one device.
std::vector<WorkerLoad> worker_loads(const Simulation& simulation);

}  // namespace kasane::gravity
