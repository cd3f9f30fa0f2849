// Steps of one worker of many: those of DirectStepper with a DistributedForce. Sums and the reports that determine the next steps are
// reduced over all workers, so that all take the same steps.
#pragma once

#include <kasane/gravity/distributed/distributed_force.hpp>
#include <kasane/gravity/evolve/direct_stepper.hpp>

#include <array>

namespace kasane::gravity {

/// The stepper of a worker on any space.
class WorkerStepper {
   public:
    virtual ~WorkerStepper() = default;
    /// Collective, after every worker has constructed its stepper.
    virtual void connect() = 0;
    virtual ExchangeUsed exchange_used() const = 0;
    virtual Stepper& stepper() = 0;
};

template <Space S>
class DistributedStepper final : public DirectStepper<S, DistributedForce<S>>, public WorkerStepper {
    using Base = DirectStepper<S, DistributedForce<S>>;

   public:
    /// @param slab_of  positions, velocities and masses of this worker's slab
    DistributedStepper(S on, const Particles& slab_of, const SimulationOptions& chosen, const Scheme& scheme, const Slab& slab,
                       const Exchange& exchange, comm::Worker& worker)
        : Base(on, slab_of, chosen, scheme, slab, on, std::get<Direct>(chosen.force), slab.total, exchange, worker), worker_(worker) {}

    void connect() override { this->force().connect(); }
    ExchangeUsed exchange_used() const override {
        return {this->force().engine(), this->force().both_sides() ? PairForm::both_sides : PairForm::one_sided};
    }
    Stepper& stepper() override { return *this; }

   protected:
    using Report = typename Base::Report;

    void sum(View<double> values) const override { worker_.all_reduce(values, comm::Reduce::sum); }
    void sum(View<std::uint64_t> values) const override { worker_.all_reduce(values, comm::Reduce::sum); }

    /// Adds the counts; of several non-finite particles, keeps the one that a single worker would report.
    Report reduce(const Report& own) override {
        std::array<std::uint64_t, StepReport::words> words{};
        std::copy(own.begin(), own.begin() + StepReport::bad, words.begin());
        words[StepReport::bad] = own[StepReport::bad] != StepReport::none;
        worker_.all_reduce(View<std::uint64_t>(words.data(), StepReport::words), comm::Reduce::sum);
        Report reduced{};
        std::copy(words.begin(), words.begin() + StepReport::bad, reduced.begin());
        reduced[StepReport::bad] = StepReport::none;
        if (words[StepReport::bad] == 0) return reduced;
        std::uint64_t first[1] = {own[StepReport::bad]};
        if (first[0] != StepReport::none) first[0] += static_cast<std::uint64_t>(this->first());
        worker_.all_reduce(View<std::uint64_t>(first, 1), comm::Reduce::min);
        reduced[StepReport::bad] = first[0];
        return reduced;
    }

    /// Every worker throws; the root rank, which has the ids, writes the message.
    void handle(const BlowUp& what) override { throw what; }
    bool writes_warnings() const override { return worker_.index() == 0; }

   private:
    comm::Worker& worker_;
};

}  // namespace kasane::gravity
