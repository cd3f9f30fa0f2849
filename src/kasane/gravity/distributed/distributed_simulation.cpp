#include <kasane/core/device/largest.hpp>
#include <kasane/gravity/check_simulation.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/distributed/local_workers.hpp>

#include <string>
#include <utility>

namespace kasane::gravity {
namespace {

/// The stepper of the root rank: broadcasts commands, executes its part of them and gathers the results.
class RootStepper : public Stepper {
   public:
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

   protected:
    RootStepper(comm::Communicator& ranks, const SimulationOptions& chosen) : ranks_(ranks) {
        options = {.force = chosen.force, .step = chosen.step, .start_time = chosen.start_time, .steps = chosen.steps};
        host_step = steps = chosen.steps;
    }

    static Setup setup_of(const SimulationOptions& chosen, const Scheme& scheme, const Exchange& exchange,
                          const std::vector<AnySpace>& here) {
        Setup setup;
        setup.force = chosen.force;
        setup.step = chosen.step;
        setup.scheme = scheme;
        setup.start_time = chosen.start_time;
        setup.steps = chosen.steps;
        setup.frame = chosen.state.frame;
        setup.exchange = exchange;
        setup.kind = here.empty() ? 0 : here.front().index();
        return setup;
    }
    void announce(Setup& setup) {
        Command command{Command::Verb::make};
        broadcast(ranks_, command);
        broadcast(ranks_, setup);
    }
    Answer run(Command::Verb verb, std::int64_t count = 0) {
        Command command{verb, count};
        broadcast(ranks_, command);
        return workers_->run(command);
    }

    comm::Communicator& ranks_;
    std::unique_ptr<LocalWorkers> workers_;
};

void send_end(comm::Communicator& ranks) {
    // For destructors, which must not throw. If a rank does not answer any more, it has reported its failure.
    problem_of([&] {
        Command command{Command::Verb::end};
        broadcast(ranks, command);
    });
}

/// With all particles on the root rank.
class GatheringStepper final : public RootStepper {
   public:
    GatheringStepper(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                     const SimulationOptions& chosen, const Exchange& exchange)
        : RootStepper(communicator.ranks(), chosen) {
        auto setup = setup_of(
            chosen, Scheme(chosen.step, softening(chosen.force), softening_per_particle(chosen.force), chosen.state.step_length, particles),
            exchange, here);
        setup.total = particles.size();
        setup.largest_mass = largest_magnitude(Cpu{}, view(particles.mass));
        setup.accelerated = !chosen.state.acceleration.empty();
        announce(setup);
        workers_ = std::make_unique<LocalWorkers>(communicator, here, setup, particles, chosen.state.acceleration);
        host = std::move(particles);
    }
    ~GatheringStepper() override { send_end(ranks_); }
};

/// With the particles in slabs.
class SlabStepper final : public RootStepper {
   public:
    SlabStepper(std::shared_ptr<SlabParticles> particles, const SimulationOptions& chosen, const Exchange& exchange)
        : RootStepper(particles->communicator().ranks(), chosen), particles_(std::move(particles)) {
        const auto& facts = particles_->facts();
        auto setup = setup_of(chosen,
                              Scheme(chosen.step, softening(chosen.force), softening_per_particle(chosen.force), chosen.state.step_length,
                                     [&] { return mean_distance(positions_and_masses()); }),
                              exchange, particles_->here());
        setup.total = facts.total();
        setup.largest_mass = facts.largest_mass();
        setup.accelerated = facts.accelerated;
        announce(setup);
        workers_ = std::make_unique<LocalWorkers>(particles_->communicator(), particles_->here(), setup, particles_->slabs());
        host_step = steps - 1;  // `host` has no particles yet
    }

    index_t size() const override { return particles_->size(); }
    std::uint64_t id_of(index_t particle) override {
        std::uint64_t id = 0;
        particles_->rows(Column::id, particle, View<std::uint64_t>(&id, 1));
        return id;
    }
    void fetch(Particles& to) override {
        if (to.size() != size()) {
            to.resize(size());
            particles_->rows(Column::mass, 0, view(to.mass));
            particles_->rows(Column::id, 0, view(to.id));
            particles_->rows(Column::type, 0, view(to.type));
            if (particles_->facts().softenings) {
                to.softening.resize(to.mass.size());
                particles_->rows(Column::softening, 0, view(to.softening));
            }
        }
        RootStepper::fetch(to);
    }
    bool take_back() { return run(Command::Verb::take_back).finite; }

   private:
    /// For the mean distance of the particles.
    Particles positions_and_masses() const {
        Particles all;
        all.position.resize(static_cast<std::size_t>(size()));
        all.mass.resize(static_cast<std::size_t>(size()));
        particles_->rows(Column::position, 0, view(all.position));
        particles_->rows(Column::mass, 0, view(all.mass));
        return all;
    }

    std::shared_ptr<SlabParticles> particles_;
};

}  // namespace

Simulation distributed_simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                                  const SimulationOptions& given, const Exchange& exchange) {
    SimulationOptions options;
    try {
        options = checked_simulation(particles, given, here.front());
    } catch (...) {
        Command nothing;  // the other ranks wait for their first command
        broadcast(communicator.ranks(), nothing);
        throw;
    }
    return Simulation(std::make_unique<GatheringStepper>(communicator, here, std::move(particles), options, exchange));
}

SlabParticles::SlabParticles(comm::WorkerCommunicator& communicator, std::vector<AnySpace> here, RankSlab slab, SlabTask task)
    : communicator_(communicator), here_(std::move(here)), task_(std::move(task)) {
    slabs_ = std::make_unique<RankSlabs>(communicator.ranks(), std::move(slab));
}
SlabParticles::~SlabParticles() {
    send_end(communicator_.ranks());
    if (task_) task_(*slabs_, {});
}

void SlabParticles::rows(Column column, index_t first, index_t n, void* to) const {
    Command command{Command::Verb::rows, n, first, column};
    broadcast(communicator_.ranks(), command);
    slabs_->rows(column, first, n, to);
}

std::vector<std::uint64_t> SlabParticles::peak_memory() const {
    Command command{Command::Verb::memory};
    broadcast(communicator_.ranks(), command);
    return slabs_->peak_memory();
}

void SlabParticles::run(const std::string& given) const {
    Command command{Command::Verb::task, std::ssize(given)};
    broadcast(communicator_.ranks(), command);
    auto text = given;
    communicator_.ranks().broadcast(text.data(), text.size(), 0);
    task_(*slabs_, text);
}

Simulation distributed_simulation(std::shared_ptr<SlabParticles> particles, const SimulationOptions& given, const Exchange& exchange) {
    const auto& facts = particles->facts();
    const auto options = checked_options(facts.range, facts.softening(), given, particles->here().front());
    return Simulation(std::make_unique<SlabStepper>(std::move(particles), options, exchange));
}

bool take_back(const Simulation& simulation) {
    // The stepper of a simulation belongs to it alone.
    auto* stepper = const_cast<SlabStepper*>(dynamic_cast<const SlabStepper*>(&simulation.stepper()));
    KS_REQUIRE(stepper, "the particles of this simulation are not in slabs");
    return stepper->take_back();
}

void worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, RankSlab slab, const SlabTask& task) {
    auto& ranks = communicator.ranks();
    std::unique_ptr<RankSlabs> slabs;
    try {
        slabs = std::make_unique<RankSlabs>(ranks, std::move(slab));
    } catch (const InputError&) {
        return;  // the root rank reports it
    }
    struct End {
        const SlabTask& task;
        const RankSlabs& slabs;
        ~End() {
            if (task) task(slabs, {});
        }
    } const end{task, *slabs};
    std::unique_ptr<LocalWorkers> workers;
    for (;;) {
        Command command;
        broadcast(ranks, command);
        if (command.verb == Command::Verb::end) return;
        try {
            if (command.verb == Command::Verb::make) {
                Setup setup;
                broadcast(ranks, setup);
                workers = std::make_unique<LocalWorkers>(communicator, here, setup, *slabs);
            } else if (command.verb == Command::Verb::rows) {
                slabs->rows(command.column, command.first, command.count, nullptr);
            } else if (command.verb == Command::Verb::memory) {
                static_cast<void>(slabs->peak_memory());
            } else if (command.verb == Command::Verb::task) {
                std::string text(static_cast<std::size_t>(command.count), '\0');
                ranks.broadcast(text.data(), text.size(), 0);
                task(*slabs, text);
            } else {
                workers->run(command);
            }
        } catch (const Error&) {
            // All ranks throw this error, also the root rank, which ends the run.
        }
    }
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
