// Steps with direct summation: accelerations in double, particles in the order given.
#pragma once

#include <kasane/gravity/direct/audit_sum.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/evolve/device_stepper.hpp>

#include <type_traits>

namespace kasane::gravity {

/// The slab of particles that a device holds. One device alone holds all of them.
struct Slab {
    index_t total = 0;        ///< particles of all workers
    index_t first = 0;        ///< number of the first particle here
    double largest_mass = 0;  ///< of all particles [mass]
};

/// Frames of direct summation are renewed before the macro steps whose number is a multiple of this.
inline constexpr std::int64_t frame_steps = 64;

/// @tparam Force  DirectForce<S> on one device, DistributedForce<S> of many workers: one interface
template <Space S, class Force = DirectForce<S>>
class DirectStepper : public DeviceStepper<S, Vec3<double>> {
    using Base = DeviceStepper<S, Vec3<double>>;

   public:
    /// @param of_force  the arguments of Force's constructor
    template <class... Args>
    DirectStepper(S on, const HostParticles& particles, const SimulationOptions& chosen, const Scheme& scheme, const Slab& slab,
                  Args&&... of_force)
        : Base(on, particles, chosen, scheme,
               {.levels = scheme.kind != Scheme::Kind::constant, .softenings = std::get<Direct>(chosen.force).softening_per_particle},
               slab.total),
          direct_(std::get<Direct>(chosen.force)),
          slab_(slab),
          force_(std::forward<Args>(of_force)...),
          predicted_(on, scheme.kind == Scheme::Kind::blocks ? particles.size() : 0),
          target_(on, predicted_.size()),
          result_(on, predicted_.size()),
          target_softening_(on, direct_.softening_per_particle ? predicted_.size() : 0),
          span_(on),
          frame_(chosen.state.frame) {
        for (int k = 0; k < frame_samples; ++k) {
            const index_t i = frame_sample(k, slab.total) - slab.first;
            if (i < 0 || i >= particles.size()) continue;
            sample_.push_back(static_cast<std::uint32_t>(i));
            slot_.push_back(k);
        }
        sample_on_space_ = to_space(on, sample_);
        sampled_ = Buffer<Vec3<double>, S>(on, sample_on_space_.size());
        if (frame_.total > 0) force_.set(frame_);
    }

    SimulationState state() override {
        SimulationState state;
        state.step_length = this->scheme_.computed_length;
        state.frame = frame_;
        return state;
    }

    double interactions() override { return interactions_; }

    std::string variant() override {
        if (force_.both_sides()) return name(DirectVariant::pair);
        if (direct_.variant == DirectVariant::plain) return name(DirectVariant::plain);
        return name(std::is_same_v<S, Cpu> ? DirectVariant::simd : DirectVariant::tile);
    }

   protected:
    using Base::on_;
    using Base::system_;
    using Base::total_;

    Force& force() { return force_; }
    const Force& force() const { return force_; }
    index_t first() const override { return slab_.first; }

    void begin_macro_step() override {
        if (this->steps % frame_steps == 0 && framed_ != this->steps) renew_frame();
    }

    View<const std::uint32_t> advance(const Motion<Vec3<double>>& motion, const BlockStep& step, View<std::uint8_t> ends) override {
        if (ends.empty())
            gravity::advance(on_, motion, step, ends, PredictNothing{});
        else
            gravity::advance(on_, motion, step, ends, PredictPositions{predicted_.view()});
        return {};
    }

    void evaluate(View<const std::uint32_t> list, index_t active, bool all) override {
        span_.begin();
        if (all) {
            force_.accelerate(own(), system_.acceleration.view());
        } else {
            const auto target = target_.view().subview(0, list.n), result = result_.view().subview(0, list.n);
            if (list.n > 0) gather(on_, list, View<const Vec3<double>>(predicted_.view()), target);
            const auto softening = target_softening_.view().subview(0, target_softening_.size() > 0 ? list.n : 0);
            if (softening.n > 0) gather(on_, list, View<const double>(system_.softening.view()), softening);
            // Two sets: a target is also a source, at distance zero, which adds no acceleration.
            force_.accelerate_at(target, {predicted_.view(), system_.mass.view(), system_.softening.view()}, result, softening);
            if (list.n > 0) scatter(on_, list, View<const Vec3<double>>(result), system_.acceleration.view());
        }
        span_.end();
        interactions_ += static_cast<double>(active) * static_cast<double>(total_);
        ++calls_;
    }

    void evaluate_first() override {
        if (frame_.total == 0) renew_frame();
        evaluate({}, total_, true);
    }

    typename Base::Potentials evaluate_potential() override {
        if (potential_.size() == 0) potential_ = Buffer<double, S>(on_, system_.count());
        force_.potential(own(), potential_.view());
        static_assert(sizeof(double) == sizeof(std::uint64_t));
        return {potential_.view(), {reinterpret_cast<std::uint64_t*>(potential_.data()), potential_.size()}};
    }

    void force_parts(const typename Base::PartFunction& part) override { part("force", span_.seconds(), calls_); }

    std::vector<Vec3<double>> reference(const std::vector<Vec3<double>>& at, const std::vector<double>& softening) override {
        const auto target = to_space(on_, at);
        const auto eps = to_space(on_, softening);
        constexpr index_t indices = 16384;  // enough to keep a device busy
        const index_t shares = (indices + target.size() - 1) / target.size();
        Buffer<AuditSum, S> part(on_, shares * target.size());
        audit_sums(on_, target.view(), eps.view(), own(), direct_, Bins<3>(frame_.acceleration_bound(direct_.softening)), force_.grain(),
                   part.view());
        const auto parts = to_host(part);
        std::vector<AuditSum> sum(at.size());
        for (std::size_t k = 0; k < parts.size(); ++k) {
            auto& to = sum[k % at.size()];
            to.x.add(parts[k].x);
            to.y.add(parts[k].y);
            to.z.add(parts[k].z);
        }
        static_assert(sizeof(AuditSum) == 9 * sizeof(double));
        this->sum({sum[0].x.part, 9 * target.size()});
        std::vector<Vec3<double>> found;
        for (const auto& s : sum) found.push_back(direct_.G * Vec3<double>{s.x.value(), s.y.value(), s.z.value()});
        return found;
    }

   private:
    Sources own() { return {system_.position.view(), system_.mass.view(), system_.softening.view()}; }

    /// Makes a frame from the present positions; the host reads frame_samples of them.
    void renew_frame() {
        gather(on_, sample_on_space_.view(), View<const Vec3<double>>(system_.position.view()), sampled_.view());
        const auto mine = to_host(sampled_);
        std::vector<Vec3<double>> sampled(
            frame_samples);  // zero where another worker has the sample, so that the sum over workers is the sample
        for (std::size_t k = 0; k < mine.size(); ++k) sampled[static_cast<std::size_t>(slot_[k])] += mine[k];
        this->sum({&sampled[0].x, 3 * frame_samples});
        frame_ = make_direct_frame(sampled, slab_.largest_mass, total_, !std::same_as<S, Cpu>);
        force_.set(frame_);
        framed_ = this->steps;
    }

    Direct direct_;
    Slab slab_;
    Force force_;
    Buffer<Vec3<double>, S> predicted_, target_, result_;
    Buffer<double, S> target_softening_;
    Buffer<double, S> potential_;  ///< allocated when it is first needed
    SpanTimer<S> span_;
    DirectFrame frame_;
    std::int64_t framed_ = -1;           ///< macro step at whose beginning the frame was made
    std::vector<std::uint32_t> sample_;  ///< sampled particles on this device
    std::vector<int> slot_;              ///< their numbers among all samples
    Buffer<std::uint32_t, S> sample_on_space_;
    Buffer<Vec3<double>, S> sampled_;
    double interactions_ = 0;
    std::int64_t calls_ = 0;
};

}  // namespace kasane::gravity
