// The common part of the steppers of workers, for any force.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/domain/worker_load.hpp>
#include <kasane/gravity/evolve/stepper.hpp>
#include <kasane/gravity/step/motion.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace kasane::gravity {

/// The stepper of a worker on any space. Its values are those of this worker's particles.
class WorkerStepper {
   public:
    virtual ~WorkerStepper() = default;
    /// Collective, after every worker has constructed its stepper.
    virtual void connect() = 0;
    virtual ExchangeUsed exchange_used() const = 0;
    virtual Stepper& stepper() = 0;
    /// Numbers of this worker's particles among all particles, in the order of its values; empty: its slab.
    virtual std::vector<std::uint32_t> given() const { return {}; }
    /// The loads of all workers, up to the end of the last macro step; the same on every worker. Empty with direct summation, which gives
    /// all workers equal slabs.
    virtual std::vector<WorkerLoad> loads() const { return {}; }
    /// Whether state() has accelerations; the same on every worker.
    virtual bool keeps_accelerations() const { return false; }
};

/// Reduces the reports of all workers, whose particles have their numbers among all particles: adds the counts and, of several non-finite
/// particles, keeps the one that a single worker would report. Collective.
/// @param flag  becomes true on all workers where it is true on one
inline std::array<StepReport::Word, StepReport::words> reduced_report(comm::Worker& worker,
                                                                      const std::array<StepReport::Word, StepReport::words>& own,
                                                                      bool& flag) {
    std::array<std::uint64_t, StepReport::words + 1> words{};
    std::copy(own.begin(), own.begin() + StepReport::bad, words.begin());
    words[StepReport::bad] = own[StepReport::bad] != StepReport::none;
    words[StepReport::words] = flag;
    worker.all_reduce(View<std::uint64_t>(words.data(), static_cast<index_t>(words.size())), comm::Reduce::sum);
    flag = words[StepReport::words] != 0;
    std::array<StepReport::Word, StepReport::words> reduced{};
    std::copy(words.begin(), words.begin() + StepReport::bad, reduced.begin());
    reduced[StepReport::bad] = StepReport::none;
    if (words[StepReport::bad] == 0) return reduced;
    std::uint64_t first[1] = {own[StepReport::bad]};
    worker.all_reduce(View<std::uint64_t>(first, 1), comm::Reduce::min);
    reduced[StepReport::bad] = first[0];
    return reduced;
}

}  // namespace kasane::gravity
