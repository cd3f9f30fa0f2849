// Steps with a tree: the particles are stored in curve order, and prediction writes directly into the tree's bodies. TreeTuner
// (tree/tuner.hpp) determines when the tree is rebuilt.
// Invariant: bodies and moments belong to one time. The topology may belong to another: moments, reaches and boxes are computed from the
// bodies, so that the error of a single force is that of the criterion. Topologies that are always older than the bodies do systematic work
// on the particles, so each is built at the mean time of its forces (docs/energy.md). Where few particles are active,
// nodes without kicked bodies are moved to the time of the bodies instead (step/kept_nodes.hpp). At the end of dt_max all particles are
// active, so that no saved state needs kept nodes.
#pragma once

#include <kasane/gravity/evolve/device_stepper.hpp>
#include <kasane/gravity/evolve/tree_parts.hpp>
#include <kasane/gravity/evolve/tree_reference.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>
#include <kasane/gravity/tree/tree_force.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <cmath>
#include <utility>
#include <variant>

namespace kasane::gravity {

template <Space S>
class TreeStepper final : public DeviceStepper<S, Vec3<float>> {
    using Base = DeviceStepper<S, Vec3<float>>;
    using Base::on_;
    using Base::system_;

   public:
    TreeStepper(S on, const Particles& particles, const SimulationOptions& chosen, const Scheme& scheme)
        : Base(on, particles, chosen, scheme,
               {true, scheme.kind != Scheme::Kind::constant, std::holds_alternative<AccelerationMac>(std::get<Tree>(chosen.force).mac),
                std::get<Tree>(chosen.force).softening_per_particle},
               particles.size()),
          tree_(std::get<Tree>(chosen.force)),
          force_(on, tree_),
          nodes_(on),
          tuner_(particles.size(), tree_.deterministic, walk_alternatives(AnySpace{on}, tree_), chosen.state.tuning),
          parts_(on) {
        if (chosen.state.acceleration.empty()) return;
        system_.send(view(chosen.state.acceleration), system_.acceleration.view(), chosen.state.order);
        measure_sizes();
        this->accelerated_ = true;
    }

    SimulationState state() override {
        SimulationState state;
        state.step_length = this->scheme_.computed_length;
        state.tuning = tuner_.tuning();
        // A continuation from step 0 builds its tree from the particles in their given order, as this simulation did.
        if (!this->accelerated_ || this->steps == 0) return state;
        resize_touched(state.order, static_cast<std::size_t>(system_.count()));
        copy_to_host(on_, view(state.order), View<const std::uint32_t>(system_.given.view()));
        resize_touched(state.acceleration, static_cast<std::size_t>(system_.count()));
        system_.fetch(View<const Vec3<float>>(system_.acceleration.view()), state.acceleration);
        return state;
    }

    StepCounts step_counts() override {
        auto counts = Base::step_counts();
        counts.rebuilds = parts_.tree.calls();
        return counts;
    }

    /// Waits for the walks.
    double interactions() override {
        counts_ += force_.walk().counts();
        return counts_.interactions();
    }

    std::string variant() override { return name(tree_.walk == TreeWalk::automatic ? TreeWalk::lists : tree_.walk); }

   private:
    void begin_block_step(std::uint32_t now) override {
        const bool first = now == 0 && tree_.deterministic;
        if (!centered_ || (!fresh_ && (first || tuner_.due()))) rebuild(now);
    }

    View<const std::uint32_t> advance(const Motion<Vec3<float>>& motion, const BlockStep& step, View<std::uint8_t> ends) override {
        prepare(step);
        age_ += step.grid.time(step.next - step.now);
        fresh_ = false;
        if (moves_) {
            const auto kicked = nodes_.kicked_bodies();
            gravity::advance(on_, motion, step, ends, PredictKicked{predict_bodies(), kicked});
            return kicked;
        }
        gravity::advance(on_, motion, step, ends, predict_bodies());
        return {};
    }

    void evaluate(View<const std::uint32_t> list, index_t, bool) override {
        if (moves_)
            move_nodes();
        else
            make_moments();
        targets_ = list.empty() ? system_.count() : list.n;
        force_.walk().tuning() = tuner_.walk(targets_);
        // The tuner of other runs compares times of walks without potentials.
        has_potential_ = this->potential_due_ && tree_.deterministic;
        parts_.walk.call([&] {
            force_.accelerate({list, list.empty(), system_.size.view()},
                              {system_.acceleration.view(), has_potential_ ? system_.floats() : View<float>{}});
        });
    }

    /// Passes the time of the walk to the tuner. The host has waited for the block step.
    void end_block_step() override {
        const double seconds = tree_.deterministic ? 0 : parts_.walk.seconds();
        tuner_.walked(targets_, seconds - walked_, std::abs(age_ - center_));
        walked_ = seconds;
    }

    void end_macro_step() override {
        this->read_report();  // checks that positions are finite, before the next tree is built
        interactions();
    }

    void evaluate_first() override {
        // The frame of a tree depends on the order of the particles, and the error of the potential on the frame. The second tree is built
        // in curve order, as all later ones, so that the first energy has the same error as the others.
        rebuild(0);
        rebuild(0);
        make_current();
        parts_.walk.call([&] { force_.accelerate_first({system_.acceleration.view(), {}}); });
        measure_sizes();
        walked_ = tree_.deterministic ? 0 : parts_.walk.seconds();
    }

    typename Base::Potentials evaluate_potential() override {
        const typename Base::Potentials potentials{system_.floats(), system_.words()};
        if (std::exchange(has_potential_, false)) return potentials;  // the caller may overwrite them
        make_current();
        interactions();
        force_.walk().tuning() = tuner_.tuning().many.walk;
        force_.accelerate({{}, true, system_.size.view()}, {{}, system_.floats()});
        force_.walk().counts();  // diagnostics are not counted as interactions of the steps
        return potentials;
    }

    void force_parts(const typename Base::PartFunction& part) override { parts_.report(part); }

    std::vector<Vec3<double>> reference(const std::vector<Vec3<double>>& at, const std::vector<double>& softening) override {
        return tree_reference(on_, tree_, system_, at, softening);
    }

    /// Builds a tree and brings the particles into its order. Where their accelerations are known the tree is built at the positions that
    /// they will have at the mean time of its forces: the errors of an older and of a later topology then do opposite work.
    void rebuild(std::uint32_t now) {
        const double before = tree_.deterministic ? 0 : parts_.tree.seconds();
        parts_.tree.call([&] {
            auto& octree = force_.octree();
            octree.choose_frame(system_.position.view(), system_.mass.view());
            centered_ = this->accelerated_;
            center_ = centered_ ? this->force_times(now, tuner_.expected_targets(), tree_.deterministic).mean : 0;
            if (centered_)
                this->predict(now, center_, predict_bodies());
            else
                octree.place(system_.position.view(), system_.mass.view());
            octree.sort();
            system_.reorder(octree.order());
            octree.build(system_.softening.view());
        });
        tuner_.built(tree_.deterministic ? 0 : parts_.tree.seconds() - before);
        age_ = 0;
        built_ = fresh_ = true;
        current_ = kept_ = false;
    }

    PredictBodies predict_bodies() {
        const auto& frame = force_.octree().frame();
        return {force_.octree().bodies(), system_.mass.view(), frame.center, 1 / frame.length, 1 / frame.mass};
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
        parts_.moments.call([&] { force_.octree().refresh(); });
        current_ = true;
        kept_ = false;
    }

    /// Decides whether nodes are moved in this step: those of a refresh at its beginning, or those that are kept since an earlier one.
    void prepare(const BlockStep& step) {
        moves_ = has_few(step.first) && (kept_ || current_);
        if (!moves_) return;
        if (!kept_) period_ = KeptPeriod::from(age_, step.first, step.grid, [&](int level) { return has_few(level); });
        moves_ = step.first >= period_.deep && period_.covers(age_ + step.grid.time(step.next - step.now));
        if (!moves_ || kept_) return;
        parts_.moments.add([&] {
            nodes_.begin(force_.octree(), {system_.velocity.view(), system_.acceleration.view(), system_.level.view(),
                                           this->elapsed(step.now), period_.deep});
        });
        kept_ = true;
    }
    /// Steps that end for this level and deeper ones alone have few active particles.
    bool has_few(int level) const { return this->scheme_.kind == Scheme::Kind::blocks && few_active(this->on_levels(level), this->total_); }

    /// Moves the nodes of the last refresh to the present time.
    void move_nodes() {
        parts_.moments.add([&] { nodes_.move(force_.octree(), age_ - period_.begin); });
        current_ = false;
    }

    void measure_sizes() { measure(on_, View<const Vec3<float>>(system_.acceleration.view()), system_.size.view()); }

    Tree tree_;
    TreeForce<S> force_;
    KeptNodes<S> nodes_;
    TreeTuner tuner_;
    TreeParts<S> parts_;
    WalkCounts counts_;
    bool built_ = false;          ///< a tree exists
    bool centered_ = false;       ///< it was built at the mean time of its forces
    bool fresh_ = false;          ///< no step has used it yet
    bool has_potential_ = false;  ///< the last walk has left potentials of the present positions in the scratch memory
    bool current_ = false;        ///< bodies and moments belong to the present positions
    KeptPeriod period_;           ///< of kept nodes
    bool kept_ = false;           ///< nodes are kept
    bool moves_ = false;          ///< they are moved in the present block step
    double age_ = 0;              ///< time since the tree was built
    double center_ = 0;           ///< age for which it was built
    double walked_ = 0;           ///< seconds of all walks
    index_t targets_ = 0;
};

}  // namespace kasane::gravity
