// Decides when the domains of workers are chosen anew: when the work that a new division would have saved since the last one exceeds the
// work of a division. Otherwise only the particles that have left their domains move when trees are built.
// Invariants: decisions depend on counted work alone, which is the same on all workers and in every repetition of a run, and not on times.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/domain/worker_load.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kasane::gravity {

/// The balance of work since the last division.
class DomainBalance {
   public:
    /// Work of a division, in interactions per particle of a worker: sums along the curve, their reduction, and particles that move because
    /// boundaries do. A walk has 1,000 to 2,000 interactions per particle.
    static constexpr double division = 100;

    /// @param n  particles   @param workers  1 or more
    DomainBalance(index_t n, int workers) : cost_(division * static_cast<double>(n) / workers) {}

    /// Whether the domains must be chosen anew when trees are built next. At the first division the work of the particles is not measured
    /// yet.
    bool due() const { return divisions_ < 2 || lost_ >= cost_; }
    /// Reports a division.
    void divided() {
        ++divisions_;
        lost_ = 0;
        fresh_ = true;
    }
    /// Reports the work of a longest step. @param loads  of all workers: interactions in this step
    void walked(const std::vector<WorkerLoad>& loads) {
        double sum = 0, most = 0;
        for (const auto& load : loads) {
            sum += load.interactions;
            most = std::max(most, load.interactions);
        }
        const double mean = sum / static_cast<double>(loads.size());
        if (!(mean > 0)) return;
        // A new division is expected to reach the mean balance of the earlier divisions. (The best balance may be due to chance; a
        // criterion that waits for it divides too often.)
        if (std::exchange(fresh_, false) && divisions_ > 1) reached_ += (most / mean - reached_) / (divisions_ - 1);
        if (reached_ > 0) lost_ += std::max(0., most - reached_ * mean);
    }

   private:
    double cost_, lost_ = 0;  ///< interactions
    double reached_ = 0;      ///< mean imbalance directly after a division; 0: unknown
    int divisions_ = 0;
    bool fresh_ = false;  ///< no step was reported since the last division
};

}  // namespace kasane::gravity
