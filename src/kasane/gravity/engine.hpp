// What works behind a Simulation: a system of particles, a force and the steps, on one space. In a communicator each worker has one, with
// its own slab of the particles; what decides about steps is combined over all of them, so that all take the same ones.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/gravity/direct/direct_gravity.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/scheme.hpp>
#include <kasane/gravity/direct/audit_sum.hpp>
#include <kasane/gravity/distributed/place.hpp>
#include <kasane/gravity/tree/tree_gravity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasane::gravity {

/// A particle that is not finite any more. Every worker of a communicator throws it at the same time.
struct BlowUp final : ComputationError {
    BlowUp(index_t which, std::int64_t in_step) : ComputationError("a particle is not finite any more"), particle(which), step(in_step) {}
    index_t particle;   ///< number in the order given
    std::int64_t step;  ///< macro step in which it happened
};

/// Frames of direct summation are renewed before the macro steps whose number is a multiple of this.
inline constexpr std::int64_t frame_steps = 64;

struct Simulation::Engine {
    virtual ~Engine() = default;
    virtual AnySpace space() const = 0;
    /// What workers of a communicator do together when each has been made.
    virtual void connect() {}
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
    virtual ExchangeUsed exchange_used() { return {}; }

    SimulationOptions options;
    Particles host;  ///< the state of step `host_step`, brought up to date when somebody asks
    std::int64_t host_step = 0;
    std::int64_t steps = 0;
    Timers timers;

   protected:
    /// In words for a person, where the ids are known.
    [[noreturn]] void tell(const BlowUp& what) const {
        throw ComputationError(
            fmt::format("particle {} (id {}) is not finite any more, after it was at t = {:.6g}: a step was too long for an encounter, or "
                        "the numbers left "
                        "the range of the arithmetic. Take a shorter step (smaller dt or eta), more softening, or other units",
                        what.particle, host.id[static_cast<std::size_t>(what.particle)],
                        options.start_time + static_cast<double>(what.step) * macro_step(options.step)));
    }
};

/// @tparam Gravity  DirectGravity<S> or TreeGravity<S>
template <class Gravity>
struct Simulation::EngineOn final : Engine {
    using S = typename Gravity::On;
    using A = typename Gravity::Acceleration;
    static constexpr bool tree = Gravity::keeps_order;

    S on;
    Place place;
    Scheme scheme;
    System<S, A> system;
    Gravity gravity;
    Workspace<S> work;
    Buffer<StepReport::Word, S> report;
    Buffer<std::uint32_t, S> selected;
    SpanTimer<S> step_span;
    std::array<StepReport::Word, StepReport::words> own{};   ///< the report, as last read
    std::array<StepReport::Word, StepReport::words> told{};  ///< the reports of all workers in one
    std::int64_t spans = 0;
    StepCounts counts;
    int shared = 0;            ///< level of the step that all share
    bool accelerated = false;  ///< the accelerations belong to the positions
    std::int64_t framed = -1;  ///< macro step at whose beginning the frame was made
    bool warned = false;

    /// @param particles  all, or the slab of a worker of a communicator: then no more than positions, velocities and masses
    EngineOn(S space, Particles particles, const SimulationOptions& chosen, const Scheme& steps_chosen, const Place& in)
        : on(space),
          place(in),
          scheme(steps_chosen),
          system(on, particles, {tree, scheme.kind != Scheme::Kind::constant, keeps_sizes(chosen)}, chosen.state.order),
          gravity(make_gravity(chosen)),
          work(on),
          report(on, StepReport::words),
          selected(on, 1),
          step_span(on) {
        options = {.force = chosen.force,
                   .step = chosen.step,
                   .start_time = chosen.start_time,
                   .steps = chosen.steps,
                   .exchange = chosen.exchange};
        if (!place.worker) host = std::move(particles);
        host_step = steps = chosen.steps;
        reset_report(on, report.view());
        if constexpr (tree)
            if (!chosen.state.acceleration.empty()) {
                system.send(chosen.state.acceleration, system.acceleration.view());
                gravity.measure_sizes(system);
                accelerated = true;
            }
    }
    static bool keeps_sizes(const SimulationOptions& chosen) {
        return Gravity::keeps_sizes(std::get<typename Gravity::Options>(chosen.force));
    }
    Gravity make_gravity(const SimulationOptions& chosen) const {
        const auto& force = std::get<typename Gravity::Options>(chosen.force);
        if constexpr (tree)
            return Gravity(on, force, place.total, chosen.state.tuning);
        else
            return Gravity(on, force, place, scheme.kind == Scheme::Kind::blocks, chosen.state.frame);
    }
    void connect() override {
        if constexpr (!tree) gravity.connect();
    }

    AnySpace space() const override { return on; }

    void step(std::int64_t n) override {
        ensure_force();
        for (std::int64_t k = 0; k < n; ++k) {
            renew_frame();
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

    void renew_frame() {
        if constexpr (!tree) {
            if (steps % frame_steps != 0 || framed == steps) return;
            gravity.renew_frame(system);
            framed = steps;
        }
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
        if (scheme.kind == Scheme::Kind::shared)
            shared = now == 0 ? deepest_level() : scheme.grid.after_shared(shared, deepest_level(), now);
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
        // Of all workers, and here.
        const index_t active = blocks ? on_levels(told, step.first) : place.total;
        const index_t here = blocks ? on_levels(own, step.first) : system.count();
        const bool all = active == place.total;
        auto motion = system.motion();
        if (!blocks) motion.level = {};
        View<std::uint32_t> list;
        span([&] {
            const auto ends = all ? View<std::uint8_t>{} : system.flags();
            gravity.advance(system, motion, step, ends);
            if (all || here == 0) return;
            list = system.list();
            select_flagged(on, work, View<const std::uint8_t>(ends), list, selected.view());
            list = list.subview(0, here);
        });
        gravity.settle();
        if constexpr (tree)
            gravity.accelerate(system, list);
        else if (all)
            gravity.accelerate(system);
        else
            gravity.accelerate(system, list, active);
        const bool choose = blocks && step.next < grid.end();  // at the end they are chosen anew
        span([&] {
            if (here == 0) return;
            finish(on, motion, step, View<const std::uint32_t>(list), View<const std::uint32_t>(system.given.view()), system.size.view(),
                   choose ? &scheme.rule : nullptr, report.view());
        });
        ++counts.block_steps;
        counts.updates += static_cast<double>(active);
        if (choose) read_report();
        if constexpr (tree) gravity.learn();
        return step.next;
    }

    /// Particles on this level and on deeper ones.
    index_t on_levels(const std::array<StepReport::Word, StepReport::words>& counted, int first) const {
        index_t sum = 0;
        for (int level = first; level <= scheme.grid.deepest; ++level)
            sum += static_cast<index_t>(counted[static_cast<std::size_t>(level)]);
        return sum;
    }

    template <class F>
    void span(F body) {
        step_span.begin();
        body();
        step_span.end();
        ++spans;
    }

    void read_report() {
        copy_to_host(on, view(own), report.view());
        told = own;
        if constexpr (!tree)
            if (place.worker) combine();
        if (const auto bad = told[StepReport::bad]; bad != StepReport::nobody) {
            const BlowUp what(StepReport::bad_given(bad), options.steps + StepReport::bad_macro(bad));
            if (place.worker) throw what;
            tell(what);
        }
        if (const auto clamped = told[StepReport::clamped]; clamped > 0 && !warned) {
            warned = true;
            if (!place.leads()) return;
            log::warning(
                "{} {} for a step shorter than dt_max / 2^{} = {:.3g}, the shortest there is: energy may suffer. Take a smaller dt_max, "
                "more softening or a larger eta",
                clamped, clamped == 1 ? "particle asks" : "particles ask", scheme.grid.deepest, scheme.grid.time(1));
        }
    }

    /// The reports of all workers in one: sums of what is counted; of the bad particles the one that a single report would name.
    void combine() {
        std::array<std::uint64_t, StepReport::words> words{};
        std::copy(own.begin(), own.begin() + StepReport::bad, words.begin());
        words[StepReport::bad] = own[StepReport::bad] != StepReport::nobody;
        place.worker->all_reduce(View<std::uint64_t>(words.data(), StepReport::words), comm::Reduce::sum);
        std::copy(words.begin(), words.begin() + StepReport::bad, told.begin());
        told[StepReport::bad] = StepReport::nobody;
        if (words[StepReport::bad] == 0) return;
        std::uint64_t first[1] = {own[StepReport::bad]};
        if (first[0] != StepReport::nobody) first[0] += static_cast<std::uint64_t>(first_of_slab());
        place.worker->all_reduce(View<std::uint64_t>(first, 1), comm::Reduce::min);
        told[StepReport::bad] = first[0];
    }

    /// Number of the first own particle in the order given.
    index_t first_of_slab() const {
        if constexpr (tree)
            return 0;
        else
            return gravity.first();
    }

    void ensure_force() {
        if (accelerated) return;
        if constexpr (!tree)
            if (!gravity.has_frame()) framed = steps;
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
        system.fetch(View<const A>(system.acceleration.view()), to, wide);
        return to;
    }

    std::vector<double> potential() override {
        ensure_force();
        return gravity.potential(system);
    }

    ForceAudit audit(index_t wanted) override {
        ensure_force();
        const index_t n = place.total, sampled = std::clamp<index_t>(wanted, 0, n);
        if (sampled == 0) return {};
        std::vector<index_t> index;
        // Evenly spread over the array, so with a tree over space; 2^31 - 1 is prime, so that every step takes another sample.
        const auto offset = static_cast<index_t>(static_cast<std::uint64_t>(steps) * 2147483647u % static_cast<std::uint64_t>(n));
        for (index_t k = 0; k < sampled; ++k) index.push_back((k * n / sampled + offset) % n);
        std::vector<Vec3<double>> target(static_cast<std::size_t>(sampled)), present(target.size());
        look_at(index, target, present);
        return gravity::audit(present, exact(target));
    }

    /// Positions and present accelerations of these particles, whoever of the communicator has them. @param index  in this system's order
    void look_at(const std::vector<index_t>& index, std::vector<Vec3<double>>& position, std::vector<Vec3<double>>& present) {
        std::vector<std::uint32_t> list;
        std::vector<std::size_t> slot;
        for (std::size_t k = 0; k < index.size(); ++k) {
            const index_t i = index[k] - first_of_slab();
            if (i < 0 || i >= system.count()) continue;
            list.push_back(static_cast<std::uint32_t>(i));
            slot.push_back(k);
        }
        const auto here = to_space(on, list);
        Buffer<Vec3<double>, S> x(on, here.size());
        Buffer<A, S> a(on, here.size());
        gather(on, here.view(), View<const Vec3<double>>(system.position.view()), x.view());
        gather(on, here.view(), View<const A>(system.acceleration.view()), a.view());
        const auto found_x = to_host(x);
        const auto found_a = to_host(a);
        for (std::size_t k = 0; k < slot.size(); ++k) {
            position[slot[k]] = found_x[k];
            present[slot[k]] = wide(found_a[k]);
        }
        place.sum({&position[0].x, 3 * static_cast<index_t>(index.size())});
        place.sum({&present[0].x, 3 * static_cast<index_t>(index.size())});
    }

    /// Accelerations at these places by direct summation in double.
    std::vector<Vec3<double>> exact(const std::vector<Vec3<double>>& at) {
        const auto target = to_space(on, at);
        const Sources sources{system.position.view(), system.mass.view()};
        const double eps = softening(options.force), G = gravitational_constant(options.force);
        if constexpr (tree) {
            Buffer<Vec3<double>, S> found(on, target.size());
            DirectSum<S> sum(on, {.softening = eps, .G = G, .precision = Precision::double_});
            // Two sets: a target meets itself among the sources at distance zero, which gives no acceleration.
            sum(target.view(), sources, Self{}, {found.view(), {}});
            return to_host(found);
        } else {
            constexpr index_t indices = 16384;  // that keep a device busy
            const index_t shares = (indices + target.size() - 1) / target.size();
            Buffer<AuditSum, S> part(on, shares * target.size());
            audit_sums(on, target.view(), sources, eps, Bins<3>(gravity.frame().acceleration_bound(eps)), gravity.grain(), part.view());
            const auto parts = to_host(part);
            std::vector<AuditSum> sum(at.size());
            for (std::size_t k = 0; k < parts.size(); ++k) {
                auto& to = sum[k % at.size()];
                to.x.add(parts[k].x);
                to.y.add(parts[k].y);
                to.z.add(parts[k].z);
            }
            static_assert(sizeof(AuditSum) == 9 * sizeof(double));
            place.sum({sum[0].x.part, 9 * target.size()});
            std::vector<Vec3<double>> found;
            for (const auto& s : sum) found.push_back(G * Vec3<double>{s.x.value(), s.y.value(), s.z.value()});
            return found;
        }
    }

    static Vec3<double> wide(const A& a) { return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)}; }

    SimulationState state() override {
        SimulationState state;
        state.step_length = scheme.computed_length;
        if constexpr (tree) {
            state.tuning = gravity.tuning();
            if (!accelerated) return state;
            state.order = to_host(system.given);
            state.acceleration.resize(static_cast<std::size_t>(system.count()));
            system.fetch(View<const A>(system.acceleration.view()), state.acceleration);
        } else {
            state.frame = gravity.frame();
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
            now.levels[static_cast<std::size_t>(shared)] = place.total;
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

    ExchangeUsed exchange_used() override {
        if constexpr (tree)
            return {};
        else
            return {gravity.sum().engine(), gravity.sum().both_sides() ? PairForm::both_sides : PairForm::one_sided};
    }
};

}  // namespace kasane::gravity
