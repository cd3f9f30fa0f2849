// Direct summation as the force of a simulation: accelerations in double, particles in the order given.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/span_timer.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/step/system.hpp>

#include <string>

namespace kasane::gravity {

template <Space S>
class DirectGravity {
   public:
    using On = S;
    using Options = Direct;
    using Acceleration = Vec3<double>;
    using Particles = System<S, Acceleration>;
    static constexpr bool keeps_order = false;
    static bool keeps_sizes(const Direct&) { return false; }

    /// @param blocks  forces will be wanted for some particles alone
    DirectGravity(S on, const Direct& options, index_t n, bool blocks)
        : on_(on), sum_(on, options), predicted_(on, blocks ? n : 0), target_(on, predicted_.size()), result_(on, predicted_.size()), span_(on) {}

    /// Predicts and moves the particles for a step whose force is wanted for `active` of them.
    void advance(Particles&, const Motion<Acceleration>& motion, const BlockStep& step, View<std::uint8_t> ends) {
        if (ends.empty())
            gravity::advance(on_, motion, step, ends, PredictNothing{});
        else
            gravity::advance(on_, motion, step, ends, PredictPositions{predicted_.view()});
    }

    void settle() {}

    /// @param active  empty: all particles, and then all are where the step ends
    void accelerate(Particles& p, View<const std::uint32_t> active) {
        span_.begin();
        if (active.empty()) {
            sum_(p.position.view(), {p.position.view(), p.mass.view()}, Self{0}, {p.acceleration.view(), {}});
        } else {
            const auto target = target_.view().subview(0, active.n), result = result_.view().subview(0, active.n);
            gather(on_, active, View<const Vec3<double>>(predicted_.view()), target);
            // Two sets: a target meets itself among the sources at distance zero, which gives no acceleration.
            sum_(target, {predicted_.view(), p.mass.view()}, Self{}, {result, {}});
            scatter(on_, active, View<const Vec3<double>>(result), p.acceleration.view());
        }
        span_.end();
        interactions_ += static_cast<double>(active.empty() ? p.count() : active.n) * static_cast<double>(p.count());
        ++calls_;
    }
    void accelerate_first(Particles& p) { accelerate(p, {}); }

    std::vector<double> potential(Particles& p) {
        Buffer<double, S> phi(on_, p.count());
        sum_(p.position.view(), {p.position.view(), p.mass.view()}, Self{0}, {{}, phi.view()});
        return to_host(phi);
    }

    double interactions() { return interactions_; }
    std::string variant(const Particles& p) const { return name(sum_.chosen(p.count(), p.count(), Self{0}, false)); }
    /// f(name, seconds so far, calls so far) for each part.
    template <class F>
    void parts(F f) {
        f("force", span_.seconds(), calls_);
    }

   private:
    S on_;
    DirectSum<S> sum_;
    Buffer<Vec3<double>, S> predicted_, target_, result_;
    SpanTimer<S> span_;
    double interactions_ = 0;
    std::int64_t calls_ = 0;
};

}  // namespace kasane::gravity
