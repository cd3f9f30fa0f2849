#include <kasane/core/device/threads.hpp>
#include <kasane/gravity/check_simulation.hpp>
#include <kasane/gravity/evolve/direct_stepper.hpp>
#include <kasane/gravity/evolve/tree_stepper.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

double softening(const Force& force) {
    return std::visit([](const auto& f) { return f.softening; }, force);
}
SofteningKernel softening_kernel(const Force& force) {
    return std::visit([](const auto& f) { return f.softening_kernel; }, force);
}
bool softening_per_particle(const Force& force) {
    return std::visit([](const auto& f) { return f.softening_per_particle; }, force);
}
bool combines_softenings(const Force& force) { return softening_per_particle(force) || softening_kernel(force) == SofteningKernel::spline; }
double gravitational_constant(const Force& force) {
    return std::visit([](const auto& f) { return f.G; }, force);
}

Simulation::Simulation(AnySpace on, Particles particles, const SimulationOptions& given) {
    check_given_threads(on);
    const auto options = checked_simulation(particles, given, on);
    check_memory(on, particles.size(), options.force);
    const Scheme scheme(options.step, softening(options.force), softening_per_particle(options.force), options.state.step_length,
                        particles);
    std::visit(
        [&]<Space S>(S space) {
            const auto largest_mass = [&] { return *std::max_element(particles.mass.begin(), particles.mass.end()); };
            if (const auto* direct = std::get_if<Direct>(&options.force))
                stepper_ = std::make_unique<DirectStepper<S>>(space, particles, options, scheme, Slab{particles.size(), 0, largest_mass()},
                                                              space, *direct, particles.size());
            else
                stepper_ = std::make_unique<TreeStepper<S>>(space, particles, options, scheme);
        },
        on);
    stepper_->host = std::move(particles);
}

Simulation::Simulation(std::unique_ptr<Stepper> stepper) : stepper_(std::move(stepper)) {}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

double Simulation::time() const {
    return stepper_->options.start_time + static_cast<double>(stepper_->steps) * macro_step(stepper_->options.step);
}
std::int64_t Simulation::steps() const { return stepper_->steps; }
index_t Simulation::size() const { return stepper_->size(); }
const SimulationOptions& Simulation::options() const { return stepper_->options; }
AnySpace Simulation::space() const { return stepper_->space(); }

void Simulation::step(std::int64_t n, bool diagnostics_follow) {
    KS_VALIDATE(n >= 0, fmt::format("is {}: steps are counted from 0; a negative dt runs backwards", n), {"", 0, 0, "n"});
    stepper_->potential_follows = diagnostics_follow;
    stepper_->step(n);
}

void Simulation::run_until(double until) {
    KS_VALIDATE(std::isfinite(until), fmt::format("is {}: give the time at which the run ends", until), {"", 0, 0, "until"});
    const double dt = macro_step(stepper_->options.step);
    while ((until - time()) * (dt > 0 ? 1 : -1) > 0.5 * std::abs(dt)) step();
}

const Particles& Simulation::particles() const {
    if (stepper_->host_step != stepper_->steps) {
        const auto scope = stepper_->timers.scope("copy");
        stepper_->fetch(stepper_->host);
        stepper_->host_step = stepper_->steps;
    }
    return stepper_->host;
}

void Simulation::copy_state(View<Vec3<double>> position, View<Vec3<double>> velocity) const {
    for (const index_t n : {position.n, velocity.n})
        KS_REQUIRE(n == 0 || n == size(), fmt::format("an array of {} vectors is given for the state of {} particles", n, size()));
    const auto scope = stepper_->timers.scope("copy");
    stepper_->copy_state(position, velocity);
}

std::vector<Vec3<double>> Simulation::acceleration() const { return stepper_->acceleration(); }

std::vector<double> Simulation::potential() const {
    const auto scope = stepper_->timers.scope("potential");
    return stepper_->potential();
}

Diagnostics Simulation::diagnostics() const {
    auto d = stepper_->diagnostics();
    d.time = time();
    return d;
}

ForceAudit Simulation::audit(index_t count) const {
    KS_VALIDATE(count >= 1, fmt::format("is {}: a sample has one particle or more", count), {"", 0, 0, "count"});
    const auto scope = stepper_->timers.scope("audit");
    return stepper_->audit(count);
}
SimulationState Simulation::state() const { return stepper_->state(); }

const Timers& Simulation::timers() const {
    stepper_->read_timers(stepper_->timers);
    return stepper_->timers;
}
double Simulation::interactions() const { return stepper_->interactions(); }
StepCounts Simulation::step_counts() const { return stepper_->step_counts(); }
std::string Simulation::variant() const { return stepper_->variant(); }

}  // namespace kasane::gravity
