// Steps of one worker of many with a tree: those of TreeStepper with a DomainForce. The particles move between the workers when trees are
// built; domains are chosen anew when the balance of the work requires it. Reports and sums are reduced over all workers, so that all take
// the same steps. Invariants: no decision depends on a clock, because all workers must decide alike; trees are built as in a deterministic
// run of one device, at the mean time of their forces (docs/energy.md). LETs are made for every force of many particles, and
// kept for the forces of few that follow.
#pragma once

#include <kasane/gravity/distributed/worker_stepper.hpp>
#include <kasane/gravity/domain/domain_balance.hpp>
#include <kasane/gravity/domain/domain_force.hpp>
#include <kasane/gravity/evolve/device_stepper.hpp>
#include <kasane/gravity/evolve/tree_reference.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

namespace kasane::gravity {

template <Space S>
class DistributedTreeStepper final : public DeviceStepper<S, Vec3<float>>, public WorkerStepper {
    using Base = DeviceStepper<S, Vec3<float>>;
    using Base::on_;
    using Base::system_;
    using Base::total_;
    using Report = typename Base::Report;

   public:
    /// @param slab_of  the particles with which this worker begins
    /// @param first    number of the first of them among the `total` of all workers
    /// @param accelerated  chosen.state.acceleration has the accelerations of these particles, of an earlier segment
    DistributedTreeStepper(S on, const HostParticles& slab_of, const SimulationOptions& chosen, const Scheme& scheme, index_t first,
                           index_t total, bool accelerated, comm::Engine engine, comm::Worker& worker)
        : Base(on, slab_of, chosen, scheme,
               {true, scheme.kind != Scheme::Kind::constant, std::holds_alternative<AccelerationMac>(std::get<Tree>(chosen.force).mac),
                std::get<Tree>(chosen.force).softening_per_particle},
               total),
          worker_(worker),
          tree_(std::get<Tree>(chosen.force)),
          force_(on, tree_, worker, 0, engine),
          tuner_(total, true, {}, {}, most_walks_of_workers(total)),
          balance_(total, worker.size()),
          work_(on),
          list_(on, 0) {
        loads_.resize(static_cast<std::size_t>(worker.size()));
        system_.set(system_.given.view(), [=](index_t k) { return static_cast<std::uint32_t>(first + k); });
        if (!accelerated) return;
        copy_from_host(on, system_.acceleration.view(), view(chosen.state.acceleration));
        measure_sizes();
        this->accelerated_ = true;
    }

    void connect() override {}
    ExchangeUsed exchange_used() const override { return {force_.engine(), PairForm::one_sided}; }
    Stepper& stepper() override { return *this; }
    std::vector<std::uint32_t> given() const override { return to_host(system_.given); }
    std::vector<WorkerLoad> loads() const override { return loads_; }
    bool keeps_accelerations() const override { return this->accelerated_; }

    void fetch(Particles& to) override {
        to.position = to_host(system_.position);
        to.velocity = to_host(system_.velocity);
    }
    std::vector<Vec3<double>> acceleration() override {
        this->ensure_force();
        std::vector<Vec3<double>> to;
        for (const auto& a : to_host(system_.acceleration))
            to.push_back({static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)});
        return to;
    }
    std::vector<double> potential() override {
        this->ensure_force();
        const auto phi = evaluate_potential().value;
        std::vector<float> found(static_cast<std::size_t>(phi.n));
        copy_to_host(on_, view(found), View<const float>(phi));
        return {found.begin(), found.end()};
    }

    SimulationState state() override {
        SimulationState state;
        state.step_length = this->scheme_.computed_length;
        if (this->accelerated_) state.acceleration = to_host(system_.acceleration);
        return state;
    }

    StepCounts step_counts() override {
        auto counts = Base::step_counts();
        counts.rebuilds = force_.parts().tree.calls();
        return counts;
    }

    /// Number of interactions of all workers, up to the end of the last macro step.
    double interactions() override { return interactions_; }

    std::string variant() override { return name(tree_.walk == TreeWalk::automatic ? TreeWalk::lists : tree_.walk); }

   private:
    /// Positions for the boxes of kept LETs are predicted for at most this number of a particle's own steps, after which they are useless.
    static constexpr double predicted_steps = 16;

    index_t first() const override { return first_; }
    typename Base::SumRange sum_range() const override { return {sum_total_, sum_first_}; }
    void sum(View<double> values) const override { worker_.all_reduce(values, comm::Reduce::sum); }
    void sum(View<std::uint64_t> values) const override { worker_.all_reduce(values, comm::Reduce::sum); }
    Report reduce(const Report& own) override { return reduced_report(worker_, own, outgrown_); }
    /// Every worker throws; the root rank, which has the ids, writes the message.
    void handle(const BlowUp& what) override { throw what; }
    bool writes_warnings() const override { return worker_.index() == 0; }

    void begin_block_step(std::uint32_t now) override {
        if (!centered_ || (!fresh_ && (now == 0 || tuner_.due()))) rebuild(now);
        if (std::exchange(outgrown_, false) && force_.keeps()) {
            if (writes_warnings()) log::debug("LETs are made again: particles have left the boxes for which they were made");
            force_.forget();
        }
    }

    View<const std::uint32_t> advance(const Motion<Vec3<float>>& motion, const BlockStep& step, View<std::uint8_t> ends) override {
        prepare(step);
        age_ += step.grid.time(step.next - step.now);
        fresh_ = false;
        if (few_ && force_.keeps()) {
            const auto kicked = force_.kicked_bodies();
            gravity::advance(on_, motion, step, ends, PredictKicked{predict_bodies(), kicked});
            return kicked;
        }
        gravity::advance(on_, motion, step, ends, predict_bodies());
        return {};
    }

    void evaluate(View<const std::uint32_t> list, index_t active, bool all) override {
        const WalkTargets targets{list, all, system_.size.view()};
        const WalkField out{system_.acceleration.view(), {}};
        targets_ = active;
        force_.walk().tuning() = tuner_.walk(active);
        if (!few_) return force_.accelerate(targets, out, [&] { make_moments(); });
        if (force_.keeps())
            move_nodes();
        else
            make_moments();
        if (current_) force_.keep(age_, worker_.size() > 1 ? deep_targets() : WalkTargets{});
        outgrown_ |= force_.accelerate_kept(targets, out);
    }

    void end_block_step() override { tuner_.walked(targets_, 0, std::abs(age_ - center_)); }

    void end_macro_step() override {
        this->read_report();  // checks that positions are finite, before the next trees are built
        add_interactions();
    }

    void evaluate_first() override {
        rebuild(0);
        make_current();
        force_.accelerate_first({system_.acceleration.view(), {}});
        measure_sizes();
        add_interactions();
    }

    typename Base::Potentials evaluate_potential() override {
        make_current();
        force_.walk().tuning() = tuner_.tuning().many.walk;
        force_.accelerate({{}, true, system_.size.view()}, {{}, system_.floats()});
        static_cast<void>(force_.counts());  // diagnostics are not counted as interactions of the steps
        return {system_.floats(), system_.words()};
    }

    void force_parts(const typename Base::PartFunction& part) override { force_.parts().report(part); }

    /// Each worker sums the forces of its own particles on all targets.
    std::vector<Vec3<double>> reference(const std::vector<Vec3<double>>& at, const std::vector<double>& softening) override {
        auto found = tree_reference(on_, tree_, system_, at, softening);
        sum({&found[0].x, 3 * static_cast<index_t>(found.size())});
        return found;
    }

    /// Moves the particles to their domains, which are chosen anew if that saves work, and builds the trees; where accelerations are known,
    /// at the positions that the particles will have at the mean time of the forces.
    void rebuild(std::uint32_t now) {
        auto& octree = force_.octree();
        centered_ = this->accelerated_;
        const auto times = centered_ ? this->force_times(now, tuner_.expected_targets(), true) : typename Base::ForceTimes{};
        center_ = times.mean, last_ = times.last;
        const bool divided = force_.rebuild(
            system_, total_, this->scheme_.kind == Scheme::Kind::blocks && centered_,
            [&] {
                if (centered_)
                    this->predict(now, center_, predict_bodies());
                else
                    octree.place(system_.position.view(), system_.mass.view());
            },
            balance_.due());
        if (divided) balance_.divided();
        tuner_.built(0);
        if (centered_) this->count_own_levels();
        number_particles();
        age_ = 0;
        built_ = fresh_ = true;
        current_ = false;
    }

    /// The numbers of this worker's particles in the order of all workers' particles, and those of its chunks, which begin with a worker.
    void number_particles() {
        const auto counts = gather_words(worker_, {static_cast<std::uint64_t>(system_.count())});
        first_ = sum_first_ = sum_total_ = 0;
        for (int w = 0; w < worker_.size(); ++w) {
            const auto count = static_cast<index_t>(counts[static_cast<std::size_t>(w)]);
            loads_[static_cast<std::size_t>(w)].particles = count;
            const index_t chunks = (count + diagnostics_chunk - 1) / diagnostics_chunk * diagnostics_chunk;
            if (w < worker_.index()) first_ += count, sum_first_ += chunks;
            sum_total_ += chunks;
        }
    }

    PredictBodies predict_bodies() { return predict_bodies(force_.octree().bodies()); }
    PredictBodies predict_bodies(View<Body> bodies) {
        const auto& frame = force_.octree().frame();
        return {bodies, system_.mass.view(), frame.center, 1 / frame.length, 1 / frame.mass};
    }

    /// Updates bodies and moments to the present positions if they are older.
    void make_current() {
        if (!built_) rebuild(0);
        if (current_) return;
        force_.octree().place(system_.position.view(), system_.mass.view());
        make_moments();
    }

    /// Computes the moments of the present bodies.
    void make_moments() {
        force_.parts().moments.call([&] { force_.octree().refresh(); });
        current_ = true;
    }

    /// Decides whether the step is one of few particles, for which LETs are kept. Between two other steps only particles on deep levels
    /// are active: LETs are made for these, and all other particles move as predicted, without messages.
    void prepare(const BlockStep& step) {
        few_ = has_few(step.first);
        if (!few_ || step.first < period_.deep || !period_.covers(age_ + step.grid.time(step.next - step.now))) force_.forget();
        if (!few_) return;
        if (force_.keeps()) {
            force_.begin_motion(
                {system_.velocity.view(), system_.acceleration.view(), system_.level.view(), this->elapsed(step.now), period_.deep});
            return;
        }
        period_ = KeptPeriod::from(age_, step.first, step.grid, [&](int level) { return has_few(level); });
        if (const auto later = force_.later(); !later.empty())
            this->predict(step.now, std::min(period_.length, std::max(last_ - age_, 0.)), predict_bodies(later), predicted_steps);
    }
    /// Steps that end for this level and deeper ones alone have few active particles.
    bool has_few(int level) const { return this->scheme_.kind == Scheme::Kind::blocks && few_active(this->on_levels(level), total_); }

    /// The particles that may be active while LETs are kept.
    WalkTargets deep_targets() {
        const index_t n = system_.count();
        const auto flag = system_.flags();  // free: the list of active particles is made
        if (list_.size() < n + 1) list_.reserve_discarding(n + n / 8 + 1);
        const auto list = list_.view();
        flag_levels(on_, View<const std::uint8_t>(system_.level.view()), period_.deep, flag);
        select_flagged(on_, work_, View<const std::uint8_t>(flag), list.subview(0, n), list.subview(n, 1));
        std::uint32_t count = 0;
        copy_to_host(on_, View<std::uint32_t>(&count, 1), View<const std::uint32_t>(list.subview(n, 1)));
        return {View<const std::uint32_t>(list.subview(0, static_cast<index_t>(count))), false, system_.size.view()};
    }

    void move_nodes() {
        force_.move(age_);
        current_ = false;
    }

    void measure_sizes() { measure(on_, View<const Vec3<float>>(system_.acceleration.view()), system_.size.view()); }

    void add_interactions() {
        const auto workers = loads_.size(), me = static_cast<std::size_t>(worker_.index());
        std::vector<double> words(2 * workers);
        words[me] = force_.counts().interactions();
        words[workers + me] = static_cast<double>(force_.received().bytes);
        sum(view(words));
        auto step = loads_;
        for (std::size_t w = 0; w < workers; ++w) {
            step[w].interactions = words[w];
            step[w].received = loads_[w].received = static_cast<std::int64_t>(words[workers + w]);
            loads_[w].interactions += words[w];
            interactions_ += words[w];
        }
        balance_.walked(step);
    }

    comm::Worker& worker_;
    Tree tree_;
    DomainForce<S> force_;
    TreeTuner tuner_;
    DomainBalance balance_;
    index_t first_ = 0, sum_first_ = 0, sum_total_ = 0;
    bool built_ = false;     ///< trees exist
    bool centered_ = false;  ///< they were built at the mean time of their forces
    bool fresh_ = false;     ///< they served no step yet
    bool current_ = false;   ///< bodies and moments belong to the present positions
    double age_ = 0;         ///< time since the trees were built
    double center_ = 0;      ///< age for which they were built
    double last_ = 0;        ///< age at the last of their forces
    bool outgrown_ = false;  ///< targets have used half of the margin of the boxes of kept LETs
    bool few_ = false;       ///< it has few active particles
    KeptPeriod period_;      ///< of kept LETs
    Workspace<S> work_;
    Buffer<std::uint32_t, S> list_;
    index_t targets_ = 0;
    double interactions_ = 0;
    std::vector<WorkerLoad> loads_;  ///< of each worker
};

}  // namespace kasane::gravity
