// Steps of one worker of many: those of DirectStepper with a DistributedForce. Sums and the reports that determine the next steps are
// reduced over all workers, so that all take the same steps.
#pragma once

#include <kasane/gravity/distributed/distributed_force.hpp>
#include <kasane/gravity/distributed/worker_stepper.hpp>
#include <kasane/gravity/evolve/direct_stepper.hpp>

namespace kasane::gravity {

template <Space S>
class DistributedStepper final : public DirectStepper<S, DistributedForce<S>>, public WorkerStepper {
    using Base = DirectStepper<S, DistributedForce<S>>;

   public:
    /// @param slab_of  positions, velocities and masses of this worker's slab
    DistributedStepper(S on, const HostParticles& slab_of, const SimulationOptions& chosen, const Scheme& scheme, const Slab& slab,
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

    Report reduce(const Report& own) override {
        auto numbered = own;
        if (own[StepReport::bad] != StepReport::none) numbered[StepReport::bad] += static_cast<StepReport::Word>(this->first());
        bool none = false;
        return reduced_report(worker_, numbered, none);
    }

    /// Every worker throws; the root rank, which has the ids, writes the message.
    void handle(const BlowUp& what) override { throw what; }
    bool writes_warnings() const override { return worker_.index() == 0; }

   private:
    comm::Worker& worker_;
};

}  // namespace kasane::gravity
