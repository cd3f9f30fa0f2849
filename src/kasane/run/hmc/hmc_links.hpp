// The links of a run of hybrid Monte Carlo, its action and its trajectories: on one device, or divided among workers.
// Invariant: both forms give the same results to rounding; a run that resumes with another number of workers continues the same chain.
#pragma once

#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/rational.hpp>
#include <kasane/lattice/hmc/spectrum.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/hmc/hmc_file.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

class HmcLinks {
   public:
    virtual ~HmcLinks() = default;
    /// The links before the first trajectory. @throws InputError as load_start; Interrupted
    virtual void start(const RunControls& controls) = 0;
    /// Takes the links of a checkpoint.
    virtual void load(const lattice::GaugeField& field) = 0;
    /// A copy of the links on the host of the root rank.
    virtual lattice::GaugeField field() = 0;

    /// Makes the terms of the action, after start() or load(); RunFlavours::begin() must follow.
    /// @returns the names of the terms   @throws InputError: a tolerance that solves with these links do not reach
    virtual std::vector<std::string> begin(int steps) = 0;
    /// Sets the number of steps of the next trajectories.
    virtual void set_steps(int steps) = 0;
    /// Does the same as HybridMonteCarlo::trajectory().
    virtual std::optional<lattice::TrajectoryResult> trajectory(std::uint64_t number, bool test, Timers& timers,
                                                                const std::function<bool()>& stop, bool reverse) = 0;

    virtual lattice::LoopMeans loop_means() = 0;
    /// The Wilson flow of a copy of the links, with the parameters of the run file.
    virtual std::vector<lattice::FlowPoint> flow() = 0;
    /// The spectrum of Dhat^+ Dhat. @param quarks  number of the operator: of two flavours, if there are two, then of one each
    virtual lattice::Spectrum spectrum(int quarks, std::uint64_t trajectory) = 0;
    /// Does the same as RationalTerm::set(). @param flavour  number in HmcQuarks::single
    virtual void set_approximation(int flavour, lattice::RationalApproximation R) = 0;
};

/// The links on the space or the workers of a run file. @param file  must outlive it   @throws InputError where the workers cannot be made
std::unique_ptr<HmcLinks> hmc_links(const HmcFile& file, RankCoordinator& ranks);

/// Peak memory of the run on each rank, and free memory.
std::vector<RunMemory> hmc_memory(const HmcFile& file, const RankCoordinator& ranks);

}  // namespace kasane::run
