#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/engine.hpp>
#include <kasane/gravity/distributed/local_workers.hpp>

#include <vector>

namespace kasane::gravity {
namespace {

void check_state(const SimulationState& state, index_t n) {
    const auto size = static_cast<std::size_t>(n);
    KS_VALIDATE(state.order.empty() || state.order.size() == size,
                fmt::format("the saved order is of {} particles, and there are {}: it belongs to another run", state.order.size(), n));
    KS_VALIDATE(state.acceleration.empty() || state.acceleration.size() == size,
                fmt::format("the saved accelerations are of {} particles, and there are {}: they belong to another run",
                            state.acceleration.size(), n));
    std::vector<bool> seen(state.order.size());
    for (const auto i : state.order) {
        KS_VALIDATE(i < size && !seen[i],
                    fmt::format("the saved order names particle {} {}: it is damaged", i, i < size ? "twice" : "of fewer"));
        seen[i] = true;
    }
}

void check(const Particles& particles, const SimulationOptions& options) {
    validate(particles, "the simulation's initial state");
    validate(options.step);
    if (const auto* tree = std::get_if<Tree>(&options.force)) validate(*tree);
    check_range(particles, options.force);
    check_state(options.state, particles.size());
}

}  // namespace

double softening(const Force& force) {
    return std::visit([](const auto& f) { return f.softening; }, force);
}
double gravitational_constant(const Force& force) {
    return std::visit([](const auto& f) { return f.G; }, force);
}

Simulation::Simulation(AnySpace on, Particles particles, const SimulationOptions& options) {
    check(particles, options);
    check_memory(on, particles.size(), options.force);
    const Scheme scheme(options.step, softening(options.force), options.state.step_length, particles);
    const Place alone{nullptr, particles.size(), *std::max_element(particles.mass.begin(), particles.mass.end()), options.exchange};
    std::visit(
        [&](auto space) {
            using S = decltype(space);
            if (std::holds_alternative<Direct>(options.force))
                engine_ = std::make_unique<EngineOn<DirectGravity<S>>>(space, std::move(particles), options, scheme, alone);
            else
                engine_ = std::make_unique<EngineOn<TreeGravity<S>>>(space, std::move(particles), options, scheme, alone);
        },
        on);
}

Simulation::Simulation(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, Particles particles,
                       const SimulationOptions& options) {
    try {
        check(particles, options);
        KS_VALIDATE(std::holds_alternative<Direct>(options.force),
                    "the tree code runs on one rank, with one worker: take direct summation, or a single device");
    } catch (...) {
        Command nothing;  // the other ranks wait for what they are to make
        tell_all(communicator.ranks(), nothing);
        throw;
    }
    engine_ = std::make_unique<TeamEngine>(communicator, here, std::move(particles), options);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

double Simulation::time() const {
    return engine_->options.start_time + static_cast<double>(engine_->steps) * macro_step(engine_->options.step);
}
std::int64_t Simulation::steps() const { return engine_->steps; }
index_t Simulation::size() const { return engine_->host.size(); }
const SimulationOptions& Simulation::options() const { return engine_->options; }
AnySpace Simulation::space() const { return engine_->space(); }

void Simulation::step(std::int64_t n) { engine_->step(n); }

void Simulation::run_until(double until) {
    const double dt = macro_step(engine_->options.step);
    while ((until - time()) * (dt > 0 ? 1 : -1) > 0.5 * std::abs(dt)) step();
}

const Particles& Simulation::particles() const {
    if (engine_->host_step != engine_->steps) {
        const auto scope = engine_->timers.scope("copy");
        engine_->fetch(engine_->host);
        engine_->host_step = engine_->steps;
    }
    return engine_->host;
}

std::vector<Vec3<double>> Simulation::acceleration() const { return engine_->acceleration(); }

std::vector<double> Simulation::potential() const {
    const auto scope = engine_->timers.scope("potential");
    return engine_->potential();
}

ForceAudit Simulation::audit(index_t count) const {
    const auto scope = engine_->timers.scope("audit");
    return engine_->audit(count);
}
SimulationState Simulation::state() const { return engine_->state(); }

const Timers& Simulation::timers() const {
    engine_->read_timers(engine_->timers);
    return engine_->timers;
}
double Simulation::interactions() const { return engine_->interactions(); }
StepCounts Simulation::step_counts() const { return engine_->step_counts(); }
std::string Simulation::variant() const { return engine_->variant(); }
ExchangeUsed Simulation::exchange_used() const { return engine_->exchange_used(); }

}  // namespace kasane::gravity
