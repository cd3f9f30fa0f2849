// The workers of one rank, and their collective operations with the workers of the other ranks.
// Invariants: the slabs with which the workers begin follow each other in the order of all particles, rank by rank; gathered values are in
// that order, also those of a tree, whose particles move between the workers.
#pragma once

#include <kasane/core/comm/partition.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/agreement.hpp>
#include <kasane/gravity/distributed/commands.hpp>
#include <kasane/gravity/distributed/rank_slab.hpp>
#include <kasane/gravity/distributed/worker_stepper.hpp>
#include <kasane/gravity/step/host_particles.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

/// The result of a command: values of all particles on the root rank, empty on the other ranks; diagnostics and audit on every rank.
struct Answer {
    std::vector<Vec3<double>> vector, velocity;
    std::vector<double> scalar;
    SimulationState state;
    Diagnostics diagnostics;
    ForceAudit audit;
    bool finite = true;
};

class LocalWorkers {
   public:
    /// Collective over the ranks. @param particles  all of them on the root rank; not read on the others
    /// @param acceleration  of a tree's last force, on the root rank if setup.accelerated
    /// @throws InputError on every rank when a worker cannot be made, with the rank that it belongs to
    LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup, const Particles& particles,
                 const std::vector<Vec3<float>>& acceleration);
    /// The same with the particles of the slabs of rank_bounds(). @param slabs  must outlive the workers
    LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup, RankSlabs& slabs);

    /// Executes a command. Collective. @throws BlowUp if every worker throws it
    Answer run(const Command& command);
    /// The first worker of this rank.
    Stepper& first() { return workers_.front()->stepper(); }
    ExchangeUsed exchange_used() const { return workers_.front()->exchange_used(); }
    std::vector<WorkerLoad> loads() const { return workers_.front()->loads(); }

   private:
    /// The particles with which a worker begins: arrays of their owner, or those that another rank has sent.
    struct Start {
        HostParticles particles;
        View<const Vec3<float>> acceleration;
        Particles received;
        std::vector<Vec3<float>> received_acceleration;
    };
    /// @param taken  bytes of the particles that this rank has
    void check(const std::vector<AnySpace>& here, const Setup& setup, std::uint64_t taken) const;
    void make(const std::vector<AnySpace>& here, const Setup& setup, std::vector<Start> starts);
    /// Copies the state of the workers of this rank to the slabs. @return whether it is finite on all ranks
    bool take_back();
    /// A worker's part of an array of all particles, which the root rank has; another rank receives it.
    template <class T>
    View<const T> slab_of(const std::vector<T>& all, int worker, std::vector<T>& received) const;
    /// Sends the parts of the workers of the other ranks, which they receive by slab_of().
    template <class T>
    void send_slabs(const std::vector<T>& all) const;
    /// Particles of every worker. Collective.
    std::vector<index_t> counts() const;
    template <class T>
    std::vector<T> gather(const std::vector<std::vector<T>>& local) const;
    comm::Communicator& ranks() const { return communicator_.ranks(); }
    int first_worker(int rank) const { return rank * communicator_.workers_per_rank(); }

    comm::WorkerCommunicator& communicator_;
    comm::Partition partition_;
    bool moving_ = false;         ///< the particles of a tree move between the workers
    RankSlabs* slabs_ = nullptr;  ///< null: the root rank has all particles
    std::vector<std::unique_ptr<WorkerStepper>> workers_;
};

}  // namespace kasane::gravity
