#include <kasane/gravity/check_simulation.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/distributed/local_workers.hpp>

#include <algorithm>

namespace kasane::gravity {
namespace {

/// The stepper of the root rank: broadcasts commands, executes its part of them and gathers the results.
class RootStepper final : public Stepper {
   public:
    RootStepper(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                const SimulationOptions& chosen, const Exchange& exchange)
        : ranks_(communicator.ranks()) {
        options = {.force = chosen.force, .step = chosen.step, .start_time = chosen.start_time, .steps = chosen.steps};
        host_step = steps = chosen.steps;
        Setup setup{.total = particles.size(),
                    .largest_mass = *std::max_element(particles.mass.begin(), particles.mass.end()),
                    .force = chosen.force,
                    .step = chosen.step,
                    .scheme = Scheme(chosen.step, softening(chosen.force), softening_per_particle(chosen.force), chosen.state.step_length,
                                     particles),
                    .start_time = chosen.start_time,
                    .steps = chosen.steps,
                    .frame = chosen.state.frame,
                    .accelerated = !chosen.state.acceleration.empty(),
                    .exchange = exchange,
                    .kind = here.empty() ? 0 : here.front().index()};
        Command command{Command::Verb::make, 0};
        broadcast(ranks_, command);
        broadcast(ranks_, setup);
        workers_ = std::make_unique<LocalWorkers>(communicator, here, setup, particles, chosen.state.acceleration);
        host = std::move(particles);
    }
    ~RootStepper() override {
        // A destructor must not throw. If a rank does not answer any more, it has reported its failure.
        problem_of([&] {
            Command command{Command::Verb::end, 0};
            broadcast(ranks_, command);
        });
    }

    AnySpace space() const override { return workers_->first().space(); }
    void step(std::int64_t n) override {
        try {
            run(Command::Verb::step, n);
            steps += n;
        } catch (const BlowUp& what) {
            steps = workers_->first().steps;
            report_blow_up(what);
        }
    }
    void fetch(Particles& to) override {
        auto now = run(Command::Verb::fetch);
        to.position = std::move(now.vector);
        to.velocity = std::move(now.velocity);
    }
    void copy_state(View<Vec3<double>> position, View<Vec3<double>> velocity) override {
        const auto now = run(Command::Verb::fetch);
        std::visit(
            [&](auto on) {
                if (!position.empty()) copy_from_host(on, position, view(now.vector));
                if (!velocity.empty()) copy_from_host(on, velocity, view(now.velocity));
            },
            space());
    }
    std::vector<Vec3<double>> acceleration() override { return run(Command::Verb::acceleration).vector; }
    std::vector<double> potential() override { return run(Command::Verb::potential).scalar; }
    /// The time of the potentials is part of the time of the diagnostics.
    Diagnostics diagnostics() override {
        const auto scope = timers.scope("diagnostics");
        return run(Command::Verb::diagnostics).diagnostics;
    }
    ForceAudit audit(index_t count) override { return run(Command::Verb::audit, count).audit; }
    SimulationState state() override { return run(Command::Verb::state).state; }
    StepCounts step_counts() override { return workers_->first().step_counts(); }
    double interactions() override { return workers_->first().interactions(); }
    void read_timers(Timers& to) override { workers_->first().read_timers(to); }
    std::string variant() override { return workers_->first().variant(); }
    ExchangeUsed exchange_used() const { return workers_->exchange_used(); }
    std::vector<WorkerLoad> loads() const { return workers_->loads(); }

   private:
    Answer run(Command::Verb verb, std::int64_t count = 0) {
        Command command{verb, count};
        broadcast(ranks_, command);
        return workers_->run(command);
    }

    comm::Communicator& ranks_;
    std::unique_ptr<LocalWorkers> workers_;
};

}  // namespace

Simulation distributed_simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                  const SimulationOptions& given, const Exchange& exchange) {
    SimulationOptions options;
    try {
        options = checked_simulation(particles, given);
    } catch (...) {
        Command nothing;  // the other ranks wait for their first command
        broadcast(communicator.ranks(), nothing);
        throw;
    }
    return Simulation(std::make_unique<RootStepper>(communicator, here, std::move(particles), options, exchange));
}

void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    auto& ranks = communicator.ranks();
    Command command;
    broadcast(ranks, command);
    if (command.verb != Command::Verb::make) return;  // the root rank refused its input
    Setup setup;
    broadcast(ranks, setup);
    std::unique_ptr<LocalWorkers> workers;
    try {
        workers = std::make_unique<LocalWorkers>(communicator, here, setup, Particles{}, std::vector<Vec3<float>>{});
    } catch (const InputError&) {
        return;  // the root rank reports it
    }
    for (;;) {
        broadcast(ranks, command);
        if (command.verb == Command::Verb::end) return;
        try {
            workers->run(command);
        } catch (const Error&) {
            // All workers throw this error, also those of the root rank, which ends the run.
        }
    }
}

ExchangeUsed exchange_used(const Simulation& simulation) {
    const auto* root = dynamic_cast<const RootStepper*>(&simulation.stepper());
    return root ? root->exchange_used() : ExchangeUsed{};
}

std::vector<WorkerLoad> worker_loads(const Simulation& simulation) {
    const auto* root = dynamic_cast<const RootStepper*>(&simulation.stepper());
    return root ? root->loads() : std::vector<WorkerLoad>{};
}

}  // namespace kasane::gravity
