// What works behind a Simulation: a system of particles, a force and the steps, on one space.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/gravity/direct/direct_gravity.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/scheme.hpp>
#include <kasane/gravity/tree/tree_gravity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasane::gravity {

struct Simulation::Engine {
    virtual ~Engine() = default;
    virtual AnySpace space() const = 0;
    virtual void step(std::int64_t n) = 0;
    virtual void fetch(Particles& to) = 0;
    virtual std::vector<Vec3<double>> acceleration() = 0;
    virtual std::vector<double> potential() = 0;
    virtual ForceAudit audit(index_t count) = 0;
    virtual SimulationState state() = 0;
    virtual StepCounts step_counts() = 0;
    virtual double interactions() = 0;
    virtual void read_timers(Timers& to) = 0;
    virtual std::string variant() = 0;

    SimulationOptions options;
    Particles host;  ///< the state of step `host_step`, brought up to date when somebody asks
    std::int64_t host_step = 0;
    std::int64_t steps = 0;
    Timers timers;
};

/// @tparam Gravity  DirectGravity<S> or TreeGravity<S>
template <class Gravity>
struct Simulation::EngineOn final : Engine {
    using S = typename Gravity::On;
    using A = typename Gravity::Acceleration;
    static constexpr bool tree = Gravity::keeps_order;

    S on;
    Scheme scheme;
    System<S, A> system;
    Gravity gravity;
    Workspace<S> work;
    Buffer<StepReport::Word, S> report;
    Buffer<std::uint32_t, S> selected;
    SpanTimer<S> step_span;
    std::array<StepReport::Word, StepReport::words> told{};  ///< the report, as last read
    std::int64_t spans = 0;
    StepCounts counts;
    int shared = 0;            ///< level of the step that all share
    bool accelerated = false;  ///< the accelerations belong to the positions
    bool warned = false;

    EngineOn(S space, Particles particles, const SimulationOptions& chosen)
        : on(space),
          scheme(chosen.step, softening(chosen.force), chosen.state.step_length, particles),
          system(on, particles, {tree, scheme.kind != Scheme::Kind::constant, keeps_sizes(chosen)}, chosen.state.order),
          gravity(make_gravity(chosen, particles.size())),
          work(on),
          report(on, StepReport::words),
          selected(on, 1),
          step_span(on) {
        options = {.force = chosen.force, .step = chosen.step, .start_time = chosen.start_time, .steps = chosen.steps};
        host = std::move(particles);
        host_step = steps = chosen.steps;
        reset_report(on, report.view());
        if constexpr (tree)
            if (!chosen.state.acceleration.empty()) {
                system.send(chosen.state.acceleration, system.acceleration.view());
                gravity.measure_sizes(system);
                accelerated = true;
            }
    }
    static bool keeps_sizes(const SimulationOptions& chosen) { return Gravity::keeps_sizes(std::get<typename Gravity::Options>(chosen.force)); }
    Gravity make_gravity(const SimulationOptions& chosen, index_t n) const {
        const auto& force = std::get<typename Gravity::Options>(chosen.force);
        if constexpr (tree) return Gravity(on, force, n, chosen.state.tuning);
        else return Gravity(on, force, n, scheme.kind == Scheme::Kind::blocks);
    }

    AnySpace space() const override { return on; }

    void step(std::int64_t n) override {
        ensure_force();
        for (std::int64_t k = 0; k < n; ++k) {
            macro_step();
            ++steps;
            if constexpr (tree) {
                read_report();  // the next tree must not be built over places that are no numbers
                gravity.interactions();
            }
        }
        read_report();
        synchronize(on);
    }

    /// From one time at which all particles are together to the next.
    void macro_step() {
        const auto& grid = scheme.grid;
        const bool blocks = scheme.kind == Scheme::Kind::blocks;
        std::uint32_t now = 0;
        while (now < grid.end()) {
            if constexpr (tree)
                if ((now == 0 && deterministic() && !gravity.fresh()) || gravity.due()) gravity.rebuild(system);
            if (blocks ? now == 0 : scheme.kind == Scheme::Kind::shared) choose_steps(now);
            now = block_step(now, blocks);
        }
    }

    bool deterministic() const {
        return std::visit([](const auto& force) { return force.deterministic; }, options.force);
    }

    /// Everybody's wish; at a time when all particles are together.
    void choose_steps(std::uint32_t now) {
        span([&] { want_levels(on, system.motion(), scheme.grid, scheme.rule, report.view()); });
        read_report();
        if (scheme.kind == Scheme::Kind::shared) shared = now == 0 ? deepest_level() : scheme.grid.after_shared(shared, deepest_level(), now);
    }

    /// The deepest level that has particles, as the report says.
    int deepest_level() const {
        int level = scheme.grid.deepest;
        while (level > 0 && told[static_cast<std::size_t>(level)] == 0) --level;
        return level;
    }

    std::uint32_t block_step(std::uint32_t now, bool blocks) {
        const auto& grid = scheme.grid;
        const auto next = grid.next(blocks ? deepest_level() : shared, now);
        const BlockStep step(grid, now, next, blocks ? grid.first_ending(next) : shared, static_cast<std::uint32_t>(steps - options.steps));
        index_t active = system.count();
        if (blocks) {
            active = 0;
            for (int level = step.first; level <= grid.deepest; ++level) active += static_cast<index_t>(told[static_cast<std::size_t>(level)]);
        }
        const bool all = active == system.count();
        auto motion = system.motion();
        if (!blocks) motion.level = {};
        View<std::uint32_t> list;
        span([&] {
            const auto ends = all ? View<std::uint8_t>{} : system.flags();
            gravity.advance(system, motion, step, ends);
            if (all) return;
            list = system.list();
            select_flagged(on, work, View<const std::uint8_t>(ends), list, selected.view());
            list = list.subview(0, active);
        });
        gravity.settle();
        gravity.accelerate(system, list);
        const bool choose = blocks && step.next < grid.end();  // at the end they are chosen anew
        span([&] {
            finish(on, motion, step, View<const std::uint32_t>(list), View<const std::uint32_t>(system.given.view()), system.size.view(),
                   choose ? &scheme.rule : nullptr, report.view());
        });
        ++counts.block_steps;
        counts.updates += static_cast<double>(active);
        if (choose) read_report();
        if constexpr (tree) gravity.learn();
        return step.next;
    }

    template <class F>
    void span(F body) {
        step_span.begin();
        body();
        step_span.end();
        ++spans;
    }

    void read_report() {
        copy_to_host(on, view(told), report.view());
        if (const auto bad = told[StepReport::bad]; bad != StepReport::nobody) {
            const auto particle = StepReport::bad_given(bad);
            const auto step = options.steps + StepReport::bad_macro(bad);
            throw ComputationError(fmt::format(
                "particle {} (id {}) is not finite any more, after it was at t = {:.6g}: a step was too long for an encounter, or the numbers left "
                "the range of the arithmetic. Take a shorter step (smaller dt or eta), more softening, or other units",
                particle, host.id[particle], options.start_time + static_cast<double>(step) * scheme.grid.dt_max));
        }
        if (const auto clamped = told[StepReport::clamped]; clamped > 0 && !warned) {
            warned = true;
            log::warning("{} {} for a step shorter than dt_max / 2^{} = {:.3g}, the shortest there is: energy may suffer. Take a smaller dt_max, "
                         "more softening or a larger eta", clamped, clamped == 1 ? "particle asks" : "particles ask", scheme.grid.deepest,
                         scheme.grid.time(1));
        }
    }

    void ensure_force() {
        if (accelerated) return;
        gravity.accelerate_first(system);
        accelerated = true;
    }

    void fetch(Particles& to) override {
        system.fetch(View<const Vec3<double>>(system.position.view()), to.position);
        system.fetch(View<const Vec3<double>>(system.velocity.view()), to.velocity);
    }

    std::vector<Vec3<double>> acceleration() override {
        ensure_force();
        std::vector<Vec3<double>> to(static_cast<std::size_t>(system.count()));
        system.fetch(View<const A>(system.acceleration.view()), to, [](const A& a) {
            return Vec3<double>{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
        });
        return to;
    }

    std::vector<double> potential() override {
        ensure_force();
        return gravity.potential(system);
    }

    ForceAudit audit(index_t wanted) override {
        ensure_force();
        const index_t n = system.count(), sampled = std::clamp<index_t>(wanted, 0, n);
        if (sampled == 0) return {};
        std::vector<std::uint32_t> index;
        // Evenly spread over the array, so with a tree over space; 2^31 - 1 is prime, so that every step takes another sample.
        const auto offset = static_cast<index_t>(static_cast<std::uint64_t>(steps) * 2147483647u % static_cast<std::uint64_t>(n));
        for (index_t k = 0; k < sampled; ++k) index.push_back(static_cast<std::uint32_t>((k * n / sampled + offset) % n));
        const auto list = to_space(on, index);
        Buffer<Vec3<double>, S> target(on, sampled), exact(on, sampled);
        Buffer<A, S> present(on, sampled);
        gather(on, list.view(), View<const Vec3<double>>(system.position.view()), target.view());
        gather(on, list.view(), View<const A>(system.acceleration.view()), present.view());
        DirectSum<S> sum(on, {.softening = softening(options.force), .G = gravitational_constant(options.force), .precision = Precision::double_});
        // Two sets: a target meets itself among the sources at distance zero, which gives no acceleration.
        sum(target.view(), {system.position.view(), system.mass.view()}, Self{}, {exact.view(), {}});
        std::vector<Vec3<double>> found;
        for (const A& a : to_host(present)) found.push_back({static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)});
        return gravity::audit(found, to_host(exact));
    }

    SimulationState state() override {
        SimulationState state;
        state.step_length = scheme.computed_length;
        if constexpr (tree) {
            state.tuning = gravity.tuning();
            if (!accelerated) return state;
            state.order = to_host(system.given);
            state.acceleration.resize(static_cast<std::size_t>(system.count()));
            system.fetch(View<const A>(system.acceleration.view()), state.acceleration);
        }
        return state;
    }

    StepCounts step_counts() override {
        auto now = counts;
        if constexpr (tree) now.rebuilds = gravity.rebuilds();
        now.levels.assign(static_cast<std::size_t>(scheme.grid.deepest) + 1, 0);
        if (scheme.kind == Scheme::Kind::blocks)
            std::transform(told.begin(), told.begin() + scheme.grid.deepest + 1, now.levels.begin(),
                           [](StepReport::Word count) { return static_cast<std::int64_t>(count); });
        else
            now.levels[static_cast<std::size_t>(shared)] = system.count();
        return now;
    }

    double interactions() override { return gravity.interactions(); }

    void read_timers(Timers& to) override {
        const auto part = [&](const char* what, double seconds, std::int64_t calls) {
            const auto found = to.parts().find(what);
            const bool known = found != to.parts().end();
            to.add(what, seconds - (known ? found->second.seconds : 0), calls - (known ? found->second.calls : 0));
        };
        gravity.parts(part);
        part("step", step_span.seconds(), spans);
    }

    std::string variant() override { return gravity.variant(system); }
};

}  // namespace kasane::gravity
