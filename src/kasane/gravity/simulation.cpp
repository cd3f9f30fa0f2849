#include <kasane/gravity/simulation.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/span_timer.hpp>
#include <kasane/gravity/step/leapfrog.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

/// In single precision every square and product of a pair must stay inside the range of float.
void check_range(const Particles& particles, const Direct& force) {
    if (force.precision == Precision::double_) return;
    constexpr double largest = 1e18;  // its square is a float
    double reach = 0, mass = 0;
    for (const auto& x : particles.position) reach = std::max({reach, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
    for (const double m : particles.mass) mass += m;
    KS_VALIDATE(reach < largest, fmt::format("positions reach {:.3g}, more than single precision holds ({:.0e}): change the unit of length, "
                                             "or take precision = \"double\"", reach, largest));
    const double strongest = force.softening > 0 ? mass / (force.softening * force.softening) : mass;
    KS_VALIDATE(strongest < 1e37, fmt::format("total mass {:.3g} with softening {:.3g} makes accelerations that single precision does not hold: "
                                              "change the unit of mass, or take precision = \"double\"", mass, force.softening));
}

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); }

}  // namespace

double softening(const Force& force) {
    return std::visit([](const auto& f) { return f.softening; }, force);
}
double gravitational_constant(const Force& force) {
    return std::visit([](const auto& f) { return f.G; }, force);
}

struct Simulation::Engine {
    virtual ~Engine() = default;
    virtual AnySpace space() const = 0;
    virtual void step(std::int64_t n) = 0;
    virtual void fetch(Particles& to) const = 0;
    virtual std::vector<Vec3<double>> acceleration() const = 0;
    virtual std::vector<double> potential() const = 0;
    virtual void read_timers(Timers& to) = 0;
    virtual std::string variant() const = 0;

    SimulationOptions options;
    mutable Particles host;  ///< the state of step `host_step`, brought up to date when somebody asks
    mutable std::int64_t host_step = 0;
    std::int64_t steps = 0;
    double interactions = 0;
    Timers timers;
};

template <Space S>
struct Simulation::EngineOn final : Engine {
    S on;
    Buffer<Vec3<double>, S> x, v, a;
    Buffer<double, S> m;
    mutable DirectSum<S> force;
    SpanTimer<S> force_span, step_span;
    bool accelerated = false;  ///< `a` belongs to `x`

    EngineOn(S space, Particles particles, const SimulationOptions& chosen)
        : on(space),
          x(to_space(on, particles.position)),
          v(to_space(on, particles.velocity)),
          a(on, particles.size()),
          m(to_space(on, particles.mass)),
          force(on, std::get<Direct>(chosen.force)),
          force_span(on),
          step_span(on) {
        options = chosen;
        host = std::move(particles);
        host_step = steps = chosen.steps;
    }

    AnySpace space() const override { return on; }

    void accelerate() {
        force_span.begin();
        force(x.view(), {x.view(), m.view()}, Self{0}, {a.view(), {}});
        force_span.end();
        const auto n = static_cast<double>(x.size());
        interactions += n * n;
        timers.add("force", 0);
        accelerated = true;
    }

    void step(std::int64_t n) override {
        if (!accelerated) accelerate();
        const double dt = macro_step(options.step);
        for (std::int64_t k = 0; k < n; ++k) {
            step_span.begin();
            kick_drift(on, x.view(), v.view(), a.view(), dt);
            step_span.end();
            accelerate();
            step_span.begin();
            kick(on, v.view(), a.view(), dt);
            step_span.end();
            timers.add("step", 0);
            ++steps;
        }
        synchronize(on);
    }

    void fetch(Particles& to) const override {
        copy_to_host(on, view(to.position), x.view());
        copy_to_host(on, view(to.velocity), v.view());
    }

    std::vector<Vec3<double>> acceleration() const override {
        if (accelerated) return to_host(a);
        Buffer<Vec3<double>, S> now(on, x.size());
        force(x.view(), {x.view(), m.view()}, Self{0}, {now.view(), {}});
        return to_host(now);
    }

    std::vector<double> potential() const override {
        Buffer<double, S> phi(on, x.size());
        force(x.view(), {x.view(), m.view()}, Self{0}, {{}, phi.view()});
        return to_host(phi);
    }

    void read_timers(Timers& to) override {
        const auto part = [&](const char* what, SpanTimer<S>& span) {
            const auto found = to.parts().find(what);
            to.add(what, span.seconds() - (found == to.parts().end() ? 0 : found->second.seconds), 0);
        };
        part("force", force_span);
        part("step", step_span);
    }

    std::string variant() const override { return name(force.chosen(x.size(), x.size(), Self{0}, false)); }
};

Simulation::Simulation(AnySpace on, Particles particles, const SimulationOptions& options) {
    validate(particles, "the simulation's initial state");
    validate(options.step);
    KS_VALIDATE(std::holds_alternative<Direct>(options.force) && std::holds_alternative<Leapfrog>(options.step),
                "only direct summation with leapfrog steps");
    check_range(particles, std::get<Direct>(options.force));
    check_memory(on, particles.size(), options.force);
    std::visit(
        [&](auto space) { engine_ = std::make_unique<EngineOn<decltype(space)>>(space, std::move(particles), options); }, on);
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

const Timers& Simulation::timers() const {
    engine_->read_timers(engine_->timers);
    return engine_->timers;
}
double Simulation::interactions() const { return engine_->interactions; }
std::string Simulation::variant() const { return engine_->variant(); }

ForceAudit Simulation::audit(index_t) const { return {}; }
SimulationState Simulation::state() const { return {}; }
StepCounts Simulation::step_counts() const { return {}; }

SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto count = static_cast<std::uint64_t>(n);
    constexpr std::uint64_t host_particle = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;
    constexpr std::uint64_t state = 3 * sizeof(Vec3<double>) + sizeof(double);
    // While diagnostics are made, a potential, an acceleration and a second copy of the particles (a snapshot) are held too.
    constexpr std::uint64_t diagnostics = host_particle + sizeof(Vec3<double>) + sizeof(double);
    const auto work = count * (state + sizeof(double)) + direct_memory(on, n, n, std::get<Direct>(force));
    const bool device = name(on) != "cpu";
    return {count * (host_particle + diagnostics) + (device ? 0 : work), device ? work : 0};
}

void check_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto needed = simulation_memory(on, n, force);
    const auto host = available_memory(Cpu{});
    KS_VALIDATE(needed.host_bytes <= host, fmt::format("{} particles need {} of memory, and {} are free: take fewer particles", n,
                                                       gibibytes(needed.host_bytes), gibibytes(host)));
    if (needed.device_bytes == 0) return;
    const auto device = available_memory(on);
    KS_VALIDATE(needed.device_bytes <= device, fmt::format("{} particles need {} of memory on {}, and {} are free: take fewer particles", n,
                                                           gibibytes(needed.device_bytes), name(on), gibibytes(device)));
}

}  // namespace kasane::gravity
