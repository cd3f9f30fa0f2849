// The tree as the force of a simulation: rebuilds the tree when it is due (tuner.hpp) and keeps the particles in its curve's order.
// Invariant: bodies and moments belong to one time. The topology may be older, by one full walk at most: moments, reaches and boxes come
// from the bodies, so that the error of a single force stays that of the criterion, but an older topology lets the energy drift
// (docs/tree-code.md).
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/span_timer.hpp>
#include <kasane/gravity/step/system.hpp>
#include <kasane/gravity/tree/tree_force.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <string>
#include <variant>
#include <vector>

namespace kasane::gravity {

template <Space S>
class TreeGravity {
   public:
    using On = S;
    using Options = Tree;
    using Acceleration = Vec3<float>;
    using Particles = System<S, Acceleration>;
    static constexpr bool keeps_order = true;
    static bool keeps_sizes(const Tree& options) { return std::holds_alternative<AccelerationMac>(options.mac); }

    TreeGravity(S on, const Tree& options, index_t n, const TreeTuning& tuning)
        : on_(on),
          options_(options),
          force_(on, options),
          tuner_(n, options.deterministic, tuning),
          walk_span_(on),
          moments_span_(on),
          tree_span_(on) {}

    /// True when the tree must be rebuilt before the next step.
    bool due() const { return !fresh_ && (!built_ || tuner_.due()); }
    bool fresh() const { return fresh_; }
    std::int64_t rebuilds() const { return rebuilds_; }

    /// A new tree at the particles' places; they come into its order.
    void rebuild(Particles& p) {
        const double before = options_.deterministic ? 0 : tree_span_.seconds();
        tree_span_.begin();
        force_.octree().sort(p.position.view(), p.mass.view());
        p.reorder(force_.octree().order());
        force_.octree().build();
        tree_span_.end();
        tuner_.built(options_.deterministic ? 0 : tree_span_.seconds() - before);
        age_ = 0;
        built_ = fresh_ = true;
        current_ = false;
        ++rebuilds_;
    }

    /// Bodies and moments at the particles' places, if they are not.
    void make_current(Particles& p) {
        if (!built_) rebuild(p);
        if (current_) return;
        force_.octree().place(p.position.view(), p.mass.view());
        settle();
    }

    /// Predicts and moves the particles, the former straight into the bodies.
    void advance(Particles& p, const Motion<Acceleration>& motion, const BlockStep& step, View<std::uint8_t> ends) {
        auto& octree = force_.octree();
        const auto& frame = octree.frame();
        gravity::advance(on_, motion, step, ends,
                         PredictBodies{octree.bodies(), p.mass.view(), frame.center, 1 / frame.length, 1 / frame.mass});
        age_ += std::abs(step.grid.time(step.next - step.now));
        fresh_ = false;
    }
    /// Moments of the bodies where they are now.
    void settle() {
        moments_span_.begin();
        force_.octree().refresh();
        moments_span_.end();
        ++refreshes_;
        current_ = true;
    }

    void accelerate(Particles& p, View<const std::uint32_t> active) {
        auto& tuning = force_.walk().tuning();
        tuning.group = tuner_.walk().group;
        tuning.group_extent = tuner_.walk().group_extent;
        tuning.list = tuner_.walk().list;
        tuning.lanes = tuner_.walk().lanes;
        walk_span_.begin();
        force_.accelerate({active, active.empty(), p.size.view()}, {p.acceleration.view(), {}});
        walk_span_.end();
        ++calls_;
        targets_ = active.empty() ? p.count() : active.n;
    }

    /// The block step is done, and the host has waited for it.
    void learn() {
        const double seconds = options_.deterministic ? 0 : walk_span_.seconds();
        tuner_.walked(targets_, seconds - walked_, age_);
        walked_ = seconds;
    }

    void accelerate_first(Particles& p) {
        make_current(p);
        walk_span_.begin();
        force_.accelerate_first({p.acceleration.view(), {}});
        walk_span_.end();
        ++calls_;
        measure_sizes(p);
        walked_ = options_.deterministic ? 0 : walk_span_.seconds();
    }
    void measure_sizes(Particles& p) { measure(on_, View<const Vec3<float>>(p.acceleration.view()), p.size.view()); }

    std::vector<double> potential(Particles& p) {
        make_current(p);
        interactions();
        force_.accelerate({{}, true, p.size.view()}, {{}, p.floats()});
        std::vector<double> phi(static_cast<std::size_t>(p.count()));
        p.fetch(View<const float>(p.floats()), phi, [](float value) { return static_cast<double>(value); });
        force_.walk().counts();  // diagnostics are not what the steps took
        return phi;
    }

    /// Waits for the walks.
    double interactions() {
        counts_ += force_.walk().counts();
        return counts_.interactions();
    }
    std::string variant(const Particles&) const { return name(options_.walk == TreeWalk::automatic ? TreeWalk::lists : options_.walk); }
    TreeTuning tuning() const { return tuner_.tuning(); }
    template <class F>
    void parts(F f) {
        f("walk", walk_span_.seconds(), calls_);
        f("moments", moments_span_.seconds(), refreshes_);
        f("tree", tree_span_.seconds(), rebuilds_);
    }

   private:
    S on_;
    Tree options_;
    TreeForce<S> force_;
    TreeTuner tuner_;
    SpanTimer<S> walk_span_, moments_span_, tree_span_;
    WalkCounts counts_;
    bool built_ = false;    ///< there is a tree
    bool fresh_ = false;    ///< it was built where the particles are
    bool current_ = false;  ///< bodies and moments are where the particles are
    double age_ = 0, walked_ = 0;
    index_t targets_ = 0;
    std::int64_t calls_ = 0, refreshes_ = 0, rebuilds_ = 0;
};

}  // namespace kasane::gravity
