// The links of a quenched run: on one device, or divided among workers.
// Invariant: both forms give the same results to rounding; a run that resumes with another number of workers continues the same chain.
#pragma once

#include <kasane/lattice/distributed/distributed_gauge.hpp>
#include <kasane/run/quenched/quenched_file.hpp>

#include <memory>

namespace kasane::run {

class QuenchedLinks {
   public:
    virtual ~QuenchedLinks() = default;
    /// The links before the first sweep. @throws InputError as load_start; Interrupted
    virtual void start(const RunControls& controls) = 0;
    virtual void load(const lattice::GaugeField& field) = 0;
    virtual lattice::GaugeField field() = 0;
    /// Executes one sweep of heatbath, and waits for it.
    virtual void heatbath(std::uint64_t sweep) = 0;
    /// Executes the sweeps of overrelaxation, and a projection to SU(3) against rounding: at every sweep, so that a resumed run gives the
    /// same bits.
    virtual void overrelaxation() = 0;
    virtual lattice::LoopMeasurement measure() = 0;
};

/// @param file  must outlive it   @throws InputError where the workers cannot be made
std::unique_ptr<QuenchedLinks> quenched_links(const QuenchedFile& file, RankCoordinator& ranks);

}  // namespace kasane::run
