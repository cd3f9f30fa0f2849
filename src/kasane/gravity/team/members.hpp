// The engines of one rank's members, and what they do together with those of the other ranks.
// Invariants: the slabs of the ranks follow each other in the order of all particles; what is gathered lies on rank 0 in that order.
#pragma once

#include <kasane/gravity/engine.hpp>
#include <kasane/gravity/team/commands.hpp>

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

struct Simulation::Members {
    /// Collective over the ranks. @param particles  all of them on rank 0; not looked at on the others
    /// @throws InputError on every rank alike when a member cannot be made, with the rank whose it is
    Members(comm::Team& team, const std::vector<AnySpace>& here, const Setup& setup, const Particles& particles);

    /// Collective. @throws what every member throws (BlowUp)
    Answer run(const Command& command);
    /// The first member of this rank.
    Engine& first() { return *engines_.front(); }

   private:
    void check(const std::vector<AnySpace>& here, const Setup& setup) const;
    Particles slab(const Particles& all, int member) const;
    template <class T>
    std::vector<T> gather(const std::vector<std::vector<T>>& local) const;
    comm::Communicator& ranks() const { return team_.ranks(); }
    int first_member(int rank) const { return rank * team_.members_here(); }

    comm::Team& team_;
    comm::Partition partition_;
    std::vector<std::unique_ptr<Engine>> engines_;
};

/// The simulation of a team, on rank 0.
struct Simulation::TeamEngine final : Engine {
    TeamEngine(comm::Team& team, const std::vector<AnySpace>& here, Particles particles, const SimulationOptions& chosen);
    ~TeamEngine() override;

    AnySpace space() const override { return members_->first().space(); }
    void step(std::int64_t n) override;
    void fetch(Particles& to) override;
    std::vector<Vec3<double>> acceleration() override { return run(Command::Verb::acceleration).vector; }
    std::vector<double> potential() override { return run(Command::Verb::potential).scalar; }
    ForceAudit audit(index_t count) override { return run(Command::Verb::audit, count).audit; }
    // What every member knows.
    SimulationState state() override { return members_->first().state(); }
    StepCounts step_counts() override { return members_->first().step_counts(); }
    double interactions() override { return members_->first().interactions(); }
    void read_timers(Timers& to) override { members_->first().read_timers(to); }
    std::string variant() override { return members_->first().variant(); }
    ExchangeUsed exchange_used() override { return members_->first().exchange_used(); }

   private:
    Answer run(Command::Verb verb, std::int64_t count = 0);
    comm::Communicator& ranks_;
    std::unique_ptr<Members> members_;
};

}  // namespace kasane::gravity
