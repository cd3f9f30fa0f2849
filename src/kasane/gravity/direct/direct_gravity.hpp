// Direct summation as the force of a simulation, alone or as a worker of a communicator: accelerations in double, particles in the order
// given.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/span_timer.hpp>
#include <kasane/gravity/step/system.hpp>
#include <kasane/gravity/distributed/distributed_force.hpp>
#include <kasane/gravity/distributed/place.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

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

    /// @param blocks  forces will be wanted for some particles alone   @param frame  of an earlier life of the run; total 0: none
    DirectGravity(S on, const Direct& options, const Place& place, bool blocks, const DirectFrame& frame)
        : on_(on),
          options_(options),
          place_(place),
          sum_(on, options, place.total, place.exchange, place.worker),
          predicted_(on, blocks ? sum_.count() : 0),
          target_(on, predicted_.size()),
          result_(on, predicted_.size()),
          span_(on),
          frame_(frame) {
        for (int k = 0; k < frame_samples; ++k) {
            const index_t i = frame_sample(k, place.total);
            if (i < sum_.first() || i >= sum_.first() + sum_.count()) continue;
            sample_.push_back(static_cast<std::uint32_t>(i - sum_.first()));
            slot_.push_back(k);
        }
        sample_on_space_ = to_space(on, sample_);
        sampled_ = Buffer<Vec3<double>, S>(on, sample_on_space_.size());
        if (frame_.total > 0) sum_.set(frame_);
    }
    /// Collective, when every worker of the communicator has been made.
    void connect() { sum_.connect(); }

    index_t first() const { return sum_.first(); }
    index_t grain() const { return sum_.partition().grain; }
    bool has_frame() const { return frame_.total > 0; }
    const DirectFrame& frame() const { return frame_; }
    /// A frame from where the particles are now; the host reads a few of them.
    void renew_frame(Particles& p) {
        gather(on_, sample_on_space_.view(), View<const Vec3<double>>(p.position.view()), sampled_.view());
        const auto mine = to_host(sampled_);
        std::vector<Vec3<double>> sampled(frame_samples);  // sums with the zeros of the other workers' samples
        for (std::size_t k = 0; k < mine.size(); ++k) sampled[static_cast<std::size_t>(slot_[k])] += mine[k];
        place_.sum({&sampled[0].x, 3 * frame_samples});
        frame_ = make_direct_frame(sampled, place_.largest_mass, place_.total);
        sum_.set(frame_);
    }

    /// Predicts and moves the particles for a step whose force is wanted for `active` of them.
    void advance(Particles&, const Motion<Acceleration>& motion, const BlockStep& step, View<std::uint8_t> ends) {
        if (ends.empty())
            gravity::advance(on_, motion, step, ends, PredictNothing{});
        else
            gravity::advance(on_, motion, step, ends, PredictPositions{predicted_.view()});
    }

    void settle() {}

    /// All particles, which are where the step ends.
    void accelerate(Particles& p) {
        span_.begin();
        sum_.accelerate({p.position.view(), p.mass.view()}, p.acceleration.view());
        counted(place_.total);
    }
    /// Those in the list, at their predicted positions among all others'. @param targets  of all workers
    void accelerate(Particles& p, View<const std::uint32_t> active, index_t targets) {
        span_.begin();
        const auto target = target_.view().subview(0, active.n), result = result_.view().subview(0, active.n);
        if (active.n > 0) gather(on_, active, View<const Vec3<double>>(predicted_.view()), target);
        // Two sets: a target meets itself among the sources at distance zero, which gives no acceleration.
        sum_.accelerate_at(target, {predicted_.view(), p.mass.view()}, result);
        if (active.n > 0) scatter(on_, active, View<const Vec3<double>>(result), p.acceleration.view());
        counted(targets);
    }
    void accelerate_first(Particles& p) {
        if (!has_frame()) renew_frame(p);
        accelerate(p);
    }

    /// Of the own particles.
    std::vector<double> potential(Particles& p) {
        Buffer<double, S> phi(on_, p.count());
        sum_.potential({p.position.view(), p.mass.view()}, phi.view());
        return to_host(phi);
    }

    /// Of all workers.
    double interactions() { return interactions_; }
    std::string variant(const Particles&) const {
        if (sum_.both_sides()) return name(DirectVariant::pair);
        if (options_.variant == DirectVariant::plain) return name(DirectVariant::plain);
        return name(std::is_same_v<S, Cpu> ? DirectVariant::simd : DirectVariant::tile);
    }
    DistributedForce<S>& sum() { return sum_; }
    /// f(name, seconds so far, calls so far) for each part.
    template <class F>
    void parts(F f) {
        f("force", span_.seconds(), calls_);
    }

   private:
    void counted(index_t targets) {
        span_.end();
        interactions_ += static_cast<double>(targets) * static_cast<double>(place_.total);
        ++calls_;
    }

    S on_;
    Direct options_;
    Place place_;
    DistributedForce<S> sum_;
    Buffer<Vec3<double>, S> predicted_, target_, result_;
    SpanTimer<S> span_;
    DirectFrame frame_;
    std::vector<std::uint32_t> sample_;  ///< own particles that frames are made of, and
    std::vector<int> slot_;              ///< which of all samples they are
    Buffer<std::uint32_t, S> sample_on_space_;
    Buffer<Vec3<double>, S> sampled_;
    double interactions_ = 0;
    std::int64_t calls_ = 0;
};

}  // namespace kasane::gravity
