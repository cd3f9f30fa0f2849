// The workers of one rank, and their collective operations with the workers of the other ranks.
// Invariants: the slabs with which the workers begin follow each other in the order of all particles, rank by rank; gathered values are in
// that order, also those of a tree, whose particles move between the workers.
#pragma once

#include <kasane/core/comm/partition.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/commands.hpp>
#include <kasane/gravity/distributed/worker_stepper.hpp>

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
};

class LocalWorkers {
   public:
    /// Collective over the ranks. @param particles  all of them on the root rank; not read on the others
    /// @param acceleration  of a tree's last force, on the root rank if setup.accelerated
    /// @throws InputError on every rank when a worker cannot be made, with the rank that it belongs to
    LocalWorkers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup, const Particles& particles,
                 const std::vector<Vec3<float>>& acceleration);

    /// Executes a command. Collective. @throws BlowUp if every worker throws it
    Answer run(const Command& command);
    /// The first worker of this rank.
    Stepper& first() { return workers_.front()->stepper(); }
    ExchangeUsed exchange_used() const { return workers_.front()->exchange_used(); }
    std::vector<WorkerLoad> loads() const { return workers_.front()->loads(); }

   private:
    void check(const std::vector<AnySpace>& here, const Setup& setup) const;
    Particles slab(const Particles& all, int worker, bool softenings) const;
    /// A worker's part of an array of all particles, which the root rank has.
    template <class T>
    std::vector<T> slab_of(const std::vector<T>& all, int worker) const;
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
    bool moving_ = false;  ///< the particles of a tree move between the workers
    std::vector<std::unique_ptr<WorkerStepper>> workers_;
};

/// Calls body(). @return the message of the exception that it throws; empty: none
template <class F>
std::string problem_of(F body) {
    try {
        body();
    } catch (const std::exception& error) {
        return error.what()[0] != '\0' ? error.what() : "it cannot go on";
    }
    return {};
}

}  // namespace kasane::gravity
