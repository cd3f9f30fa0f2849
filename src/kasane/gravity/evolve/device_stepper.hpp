// Steps of the particles of one device: the time grid, prediction, correction and their reports. A derived class evaluates the force.
// With several workers each has a stepper for its slab of the particles; a derived class reduces the reports that determine the steps, so
// that all workers take the same steps (distributed/distributed_stepper.hpp).
#pragma once

#include <kasane/core/base/log.hpp>
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/span_timer.hpp>
#include <kasane/gravity/diagnose/reduce.hpp>
#include <kasane/gravity/evolve/stepper.hpp>
#include <kasane/gravity/step/scheme.hpp>
#include <kasane/gravity/step/system.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace kasane::gravity {

/// @tparam A  type of an acceleration: Vec3<double> of direct summation, Vec3<float> of a tree
template <Space S, class A>
class DeviceStepper : public Stepper {
   public:
    AnySpace space() const override { return on_; }

    void step(std::int64_t n) override {
        ensure_force();
        for (std::int64_t k = 0; k < n; ++k) {
            is_last_ = k == n - 1;
            begin_macro_step();
            macro_step();
            ++steps;
            end_macro_step();
        }
        read_report();
        synchronize(on_);
    }

    void fetch(Particles& to) override {
        system_.fetch(View<const Vec3<double>>(system_.position.view()), to.position);
        system_.fetch(View<const Vec3<double>>(system_.velocity.view()), to.velocity);
    }

    void copy_state(View<Vec3<double>> position, View<Vec3<double>> velocity) override {
        if (!position.empty()) system_.copy_ordered(system_.position.view(), position);
        if (!velocity.empty()) system_.copy_ordered(system_.velocity.view(), velocity);
        synchronize(on_);
    }

    std::vector<Vec3<double>> acceleration() override {
        ensure_force();
        std::vector<Vec3<double>> to(static_cast<std::size_t>(system_.count()));
        system_.fetch(View<const A>(system_.acceleration.view()), to, wide);
        return to;
    }

    std::vector<double> potential() override {
        ensure_force();
        const auto phi = evaluate_potential().value;
        std::vector<double> to(static_cast<std::size_t>(system_.count()));
        system_.fetch(phi, to, [](Real value) { return static_cast<double>(value); });
        return to;
    }

    Diagnostics diagnostics() override {
        ensure_force();
        Potentials phi;
        {
            const auto scope = timers.scope("potential");
            phi = evaluate_potential();
            synchronize(on_);
        }
        const auto scope = timers.scope("diagnostics");
        const ParticleArrays<Real> particles{system_.position.view(), system_.velocity.view(), system_.mass.view(),
                                             system_.acceleration.view(), phi.value};
        return gravity::reduce(on_, work_, particles, phi.words,
                               {sum_range().total, sum_range().first, [this](View<double> values) { sum(values); },
                                [this](View<std::uint64_t> values) { sum(values); }});
    }

    ForceAudit audit(index_t wanted) override {
        ensure_force();
        const index_t n = total_, sampled = std::clamp<index_t>(wanted, 0, n);
        if (sampled == 0) return {};
        std::vector<index_t> index;
        // Evenly spread over the array and therefore, with a tree, over space; 2^31 - 1 is prime, so that samples differ between steps.
        const auto offset = static_cast<index_t>(static_cast<std::uint64_t>(steps) * 2147483647u % static_cast<std::uint64_t>(n));
        for (index_t k = 0; k < sampled; ++k) index.push_back((k * n / sampled + offset) % n);
        std::vector<Vec3<double>> target(static_cast<std::size_t>(sampled)), present(target.size());
        std::vector<double> softening(softening_per_particle(options.force) ? target.size() : 0);
        collect(index, target, present, softening);
        return gravity::audit(present, reference(target, softening));
    }

    StepCounts step_counts() override {
        auto now = counts_;
        now.levels.assign(static_cast<std::size_t>(scheme_.grid.deepest) + 1, 0);
        if (scheme_.kind == Scheme::Kind::blocks)
            std::transform(reduced_.begin(), reduced_.begin() + scheme_.grid.deepest + 1, now.levels.begin(),
                           [](StepReport::Word count) { return static_cast<std::int64_t>(count); });
        else
            now.levels[static_cast<std::size_t>(shared_)] = total_;
        return now;
    }

    void read_timers(Timers& to) override {
        const auto part = [&](const char* what, double seconds, std::int64_t calls) {
            const auto found = to.parts().find(what);
            const bool known = found != to.parts().end();
            to.add(what, seconds - (known ? found->second.seconds : 0), calls - (known ? found->second.calls : 0));
        };
        force_parts(part);
        part("step", step_span_.seconds(), spans_);
    }

   protected:
    using Report = std::array<StepReport::Word, StepReport::words>;
    using Real = decltype(A::x);
    /// Potentials of the particles of this device, in the system's order, and their memory as one word of 64 bits per particle. Valid until
    /// the next call.
    struct Potentials {
        View<const Real> value;
        View<std::uint64_t> words;
    };
    /// Function of the name, the seconds and the calls of a part of the force so far.
    using PartFunction = std::function<void(const char*, double, std::int64_t)>;

    /// @param particles  positions, velocities and masses of this device; @param total  particles of all workers
    DeviceStepper(S on, const HostParticles& particles, const SimulationOptions& chosen, const Scheme& scheme, const Keeps& keeps,
                  index_t total)
        : on_(on),
          total_(total),
          scheme_(scheme),
          system_(on, particles, keeps, chosen.state.order),
          work_(on),
          report_(on, StepReport::words),
          selected_(on, 1),
          step_span_(on) {
        options = {.force = chosen.force, .step = chosen.step, .start_time = chosen.start_time, .steps = chosen.steps};
        host_step = steps = chosen.steps;
        reset_report(on, report_.view());
    }

    // The functions of a derived class, in the order in which a macro step calls them.
    virtual void begin_macro_step() {}
    /// @param now  time in the macro step [ticks]; at 0 all particles are at one time
    virtual void begin_block_step([[maybe_unused]] std::uint32_t now) {}
    /// Predicts all particles to the end of the step and moves those whose step ends there.
    /// @return the particles to which `ends` belongs, where at least those whose step ends there; empty: all
    virtual View<const std::uint32_t> advance(const Motion<A>& motion, const BlockStep& step, View<std::uint8_t> ends) = 0;
    /// Evaluates the force on `active` particles of all workers. @param list  those of them on this device; not used where `all`
    virtual void evaluate(View<const std::uint32_t> list, index_t active, bool all) = 0;
    virtual void end_block_step() {}
    virtual void end_macro_step() {}
    /// Evaluates the force on all particles if there is no force of an earlier step.
    virtual void evaluate_first() = 0;
    /// Evaluates the potentials at the present positions.
    virtual Potentials evaluate_potential() = 0;
    virtual void force_parts(const PartFunction& part) = 0;
    /// Accelerations at these positions by direct summation in double.
    /// @param softening  of the targets; empty if the force has one softening
    virtual std::vector<Vec3<double>> reference(const std::vector<Vec3<double>>& at, const std::vector<double>& softening) = 0;

    /// Number of this device's first particle among all particles.
    virtual index_t first() const { return 0; }
    /// Places of this device's particles among those of all workers for sums over chunks (WorkerSums).
    struct SumRange {
        index_t total, first;
    };
    virtual SumRange sum_range() const { return {total_, first()}; }
    /// Sums `values` over all workers, in place.
    virtual void sum(View<double>) const {}
    virtual void sum(View<std::uint64_t>) const {}
    /// Combines the reports of all workers.
    virtual Report reduce(const Report& own) { return own; }
    virtual void handle(const BlowUp& what) { report_blow_up(what); }
    /// True if this device writes the warnings of the run.
    virtual bool writes_warnings() const { return true; }

    /// Times of coming forces, from now [time].
    struct ForceTimes {
        double mean = 0;  ///< each force has the weight 1 / (step of its target)
        double last = 0;
    };
    /// Times of the next forces on `targets` targets. @param now  time in the macro step [ticks]
    /// @param stop  count no force beyond the end of the macro step
    ForceTimes force_times(std::uint32_t now, double targets, bool stop) {
        choose_first_steps();
        const auto& grid = scheme_.grid;
        const bool blocks = scheme_.kind == Scheme::Kind::blocks;
        const int deepest = blocks ? deepest_level() : shared_;
        ForceTimes times;
        double sum = 0, weights = 0, macro_begin = -grid.time(now);
        while (targets > 0) {
            now = grid.next(deepest, now);
            times.last = macro_begin + grid.time(now);
            for (int level = blocks ? grid.first_ending(now) : deepest; level <= deepest; ++level) {
                const double count = blocks ? static_cast<double>(reduced_[static_cast<std::size_t>(level)]) : static_cast<double>(total_);
                const double weight = std::ldexp(count, level);
                sum += weight * times.last;
                weights += weight;
                targets -= count;
            }
            if (now < grid.end()) continue;
            if (stop) break;
            now = 0;
            macro_begin += grid.dt_max;
        }
        if (weights > 0) times.mean = sum / weights;
        return times;
    }

    /// Time from that of the particles of each level to `now` [ticks], where all are within their steps; for a shared step 0.
    std::array<double, most_levels> elapsed(std::uint32_t now) const {
        std::array<double, most_levels> since{};
        if (scheme_.kind == Scheme::Kind::blocks)
            for (int level = 0; level <= scheme_.grid.deepest; ++level)
                since[static_cast<std::size_t>(level)] = scheme_.grid.time(now - scheme_.grid.begin(level, now));
        return since;
    }

    /// Predicts all particles to a time `later` than `now`, each by at most `most_steps` of its own steps, and changes none.
    template <class Predict>
    void predict(std::uint32_t now, double later, const Predict& to, double most_steps = INFINITY) {
        auto motion = system_.motion();
        auto ahead = elapsed(now);
        for (std::size_t level = 0; level < ahead.size(); ++level)
            ahead[level] += std::min(later, most_steps * std::ldexp(scheme_.grid.dt_max, -static_cast<int>(level)));
        if (scheme_.kind != Scheme::Kind::blocks) motion.level = {};
        gravity::predict(on_, motion, ahead, to);
    }

    /// Counts the particles of this device on each level again, after some of them have moved to other workers.
    void count_own_levels() {
        if (scheme_.kind != Scheme::Kind::blocks) return;
        count_levels(on_, View<const std::uint8_t>(system_.level.view()), report_.view().subview(0, most_levels));
        copy_to_host(on_, view(own_), report_.view());
    }

    /// Number of particles on this level and deeper ones.
    index_t on_levels(const Report& counted, int level) const {
        index_t sum = 0;
        for (; level <= scheme_.grid.deepest; ++level) sum += static_cast<index_t>(counted[static_cast<std::size_t>(level)]);
        return sum;
    }

    /// Number of particles of all workers on this level and deeper ones.
    index_t on_levels(int level) const { return on_levels(reduced_, level); }

    void ensure_force() {
        if (accelerated_) return;
        evaluate_first();
        accelerated_ = true;
    }

    void read_report() {
        copy_to_host(on_, view(own_), report_.view());
        reduced_ = reduce(own_);
        if (const auto bad = reduced_[StepReport::bad]; bad != StepReport::none)
            handle(BlowUp(StepReport::bad_given(bad), options.steps + StepReport::bad_macro(bad)));
        if (const auto clamped = reduced_[StepReport::clamped]; clamped > 0 && !warned_) {
            warned_ = true;
            if (!writes_warnings()) return;
            log::warning(
                "{} {} a step shorter than dt_max / 2^{} = {:.3g}, the shortest possible: the energy error may grow. Take a smaller "
                "dt_max, more softening or a larger eta",
                clamped, clamped == 1 ? "particle needs" : "particles need", scheme_.grid.deepest, scheme_.grid.time(1));
        }
    }

    S on_;
    index_t total_;  ///< particles of all workers
    Scheme scheme_;
    System<S, A> system_;
    StepCounts counts_;
    bool accelerated_ = false;    ///< the accelerations belong to the positions
    bool potential_due_ = false;  ///< potentials at the positions of this force are needed next

   private:
    /// Advances all particles from one time that they share to the next.
    void macro_step() {
        const bool blocks = scheme_.kind == Scheme::Kind::blocks;
        std::uint32_t now = 0;
        while (now < scheme_.grid.end()) {
            if (now == 0)
                choose_first_steps();
            else if (scheme_.kind == Scheme::Kind::shared)
                choose_steps(now);
            begin_block_step(now);
            now = block_step(now, blocks);
        }
        chosen_ = false;
    }

    /// The levels of the macro step that begins now.
    void choose_first_steps() {
        if (!chosen_ && scheme_.kind != Scheme::Kind::constant) choose_steps(0);
        chosen_ = true;
    }

    /// Chooses the level of each particle; at a time that all particles share.
    void choose_steps(std::uint32_t now) {
        span([&] { want_levels(on_, system_.motion(), scheme_.grid, scheme_.rule, report_.view()); });
        read_report();
        if (scheme_.kind == Scheme::Kind::shared)
            shared_ = now == 0 ? deepest_level() : scheme_.grid.after_shared(shared_, deepest_level(), now);
    }

    /// The deepest level that has particles.
    int deepest_level() const {
        int level = scheme_.grid.deepest;
        while (level > 0 && reduced_[static_cast<std::size_t>(level)] == 0) --level;
        return level;
    }

    std::uint32_t block_step(std::uint32_t now, bool blocks) {
        const auto& grid = scheme_.grid;
        const auto next = grid.next(blocks ? deepest_level() : shared_, now);
        const BlockStep step(grid, now, next, blocks ? grid.first_ending(next) : shared_,
                             static_cast<std::uint32_t>(steps - options.steps));
        // Active particles of all workers, and on this device.
        const index_t active = blocks ? on_levels(reduced_, step.first) : total_;
        const index_t here = blocks ? on_levels(own_, step.first) : system_.count();
        const bool all = active == total_;
        auto motion = system_.motion();
        if (!blocks) motion.level = {};
        View<const std::uint32_t> list;
        span([&] {
            const auto ends = all ? View<std::uint8_t>{} : system_.flags();
            const auto from = advance(motion, step, ends);
            if (all || here == 0) return;
            const auto to = system_.list();
            if (from.empty())
                select_flagged(on_, work_, View<const std::uint8_t>(ends), to, selected_.view());
            else
                select_flagged(on_, work_, from, View<const std::uint8_t>(ends.subview(0, from.n)), to, selected_.view());
            list = to.subview(0, here);
        });
        potential_due_ = potential_follows && is_last_ && step.next == grid.end();
        evaluate(list, active, all);
        const bool choose = blocks && step.next < grid.end();  // at the end choose_steps() chooses all steps
        span([&] {
            if (here == 0) return;
            finish(on_, motion, step, list, View<const std::uint32_t>(system_.given.view()), system_.size.view(),
                   choose ? &scheme_.rule : nullptr, report_.view());
        });
        ++counts_.block_steps;
        counts_.updates += static_cast<double>(active);
        if (choose) read_report();
        end_block_step();
        return step.next;
    }

    template <class F>
    void span(F body) {
        step_span_.begin();
        body();
        step_span_.end();
        ++spans_;
    }

    /// Collects positions, present accelerations and, if `softening` is not empty, softenings of some particles from the workers that
    /// hold them. @param index  in the systems' order
    void collect(const std::vector<index_t>& index, std::vector<Vec3<double>>& position, std::vector<Vec3<double>>& present,
                 std::vector<double>& softening) {
        std::vector<std::uint32_t> list;
        std::vector<std::size_t> slot;
        for (std::size_t k = 0; k < index.size(); ++k) {
            const index_t i = index[k] - first();
            if (i < 0 || i >= system_.count()) continue;
            list.push_back(static_cast<std::uint32_t>(i));
            slot.push_back(k);
        }
        const auto here = to_space(on_, list);
        Buffer<Vec3<double>, S> x(on_, here.size());
        Buffer<A, S> a(on_, here.size());
        gather(on_, here.view(), View<const Vec3<double>>(system_.position.view()), x.view());
        gather(on_, here.view(), View<const A>(system_.acceleration.view()), a.view());
        const auto found_x = to_host(x);
        const auto found_a = to_host(a);
        for (std::size_t k = 0; k < slot.size(); ++k) {
            position[slot[k]] = found_x[k];
            present[slot[k]] = wide(found_a[k]);
        }
        sum({&position[0].x, 3 * static_cast<index_t>(index.size())});
        sum({&present[0].x, 3 * static_cast<index_t>(index.size())});
        if (softening.empty()) return;
        Buffer<double, S> eps(on_, here.size());
        gather(on_, here.view(), View<const double>(system_.softening.view()), eps.view());
        const auto found_eps = to_host(eps);
        for (std::size_t k = 0; k < slot.size(); ++k) softening[slot[k]] = found_eps[k];
        sum(view(softening));
    }

    static Vec3<double> wide(const A& a) { return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)}; }

    Workspace<S> work_;
    Buffer<StepReport::Word, S> report_;
    Buffer<std::uint32_t, S> selected_;
    SpanTimer<S> step_span_;
    Report own_{};      ///< last report of this device
    Report reduced_{};  ///< last report of all workers
    std::int64_t spans_ = 0;
    int shared_ = 0;        ///< level of the step that all particles share
    bool is_last_ = false;  ///< this is the last macro step of step()
    bool chosen_ = false;   ///< the levels are those of the present macro step
    bool warned_ = false;
};

}  // namespace kasane::gravity
