// The engines of one rank's workers, and what they do together with those of the other ranks.
// Invariants: the slabs of the ranks follow each other in the order of all particles; what is gathered lies on rank 0 in that order.
#pragma once

#include <kasane/gravity/engine.hpp>
#include <kasane/gravity/distributed/commands.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kasane::gravity {

/// What a command has found out. Of all particles on rank 0, empty elsewhere; the audit on every rank.
struct Answer {
    std::vector<Vec3<double>> vector, velocity;
    std::vector<double> scalar;
    ForceAudit audit;
};

struct Simulation::Workers {
    /// Collective over the ranks. @param particles  all of them on rank 0; not looked at on the others
    /// @throws InputError on every rank alike when a worker cannot be made, with the rank whose it is
    Workers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Setup& setup, const Particles& particles);

    /// Collective. @throws what every worker throws (BlowUp)
    Answer run(const Command& command);
    /// The first worker of this rank.
    Engine& first() { return *engines_.front(); }

   private:
    void check(const std::vector<AnySpace>& here, const Setup& setup) const;
    Particles slab(const Particles& all, int worker) const;
    template <class T>
    std::vector<T> gather(const std::vector<std::vector<T>>& local) const;
    comm::Communicator& ranks() const { return communicator_.ranks(); }
    int first_worker(int rank) const { return rank * communicator_.workers_per_rank(); }

    comm::WorkerCommunicator& communicator_;
    comm::Partition partition_;
    std::vector<std::unique_ptr<Engine>> engines_;
};

/// The simulation of a communicator, on rank 0.
struct Simulation::TeamEngine final : Engine {
    TeamEngine(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
               const SimulationOptions& chosen);
    ~TeamEngine() override;

    AnySpace space() const override { return workers_->first().space(); }
    void step(std::int64_t n) override;
    void fetch(Particles& to) override;
    std::vector<Vec3<double>> acceleration() override { return run(Command::Verb::acceleration).vector; }
    std::vector<double> potential() override { return run(Command::Verb::potential).scalar; }
    ForceAudit audit(index_t count) override { return run(Command::Verb::audit, count).audit; }
    // What every worker knows.
    SimulationState state() override { return workers_->first().state(); }
    StepCounts step_counts() override { return workers_->first().step_counts(); }
    double interactions() override { return workers_->first().interactions(); }
    void read_timers(Timers& to) override { workers_->first().read_timers(to); }
    std::string variant() override { return workers_->first().variant(); }
    ExchangeUsed exchange_used() override { return workers_->first().exchange_used(); }

   private:
    Answer run(Command::Verb verb, std::int64_t count = 0);
    comm::Communicator& ranks_;
    std::unique_ptr<Workers> workers_;
};

}  // namespace kasane::gravity
