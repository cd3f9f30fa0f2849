// A gauge field on all workers of a communicator, with the sweeps, trajectories and measurements on it. The root rank has the
// DistributedGauge; the other ranks are in gauge_worker_loop(), which executes the commands that the root rank broadcasts. Invariants: all
// ranks execute the same commands in the same order; links of the whole lattice exist on the root rank alone, while they are loaded or
// collected.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/distributed/hmc_setup.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/hmc/spectrum.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

class LocalGauges;

/// Results of a measurement in a quenched run.
struct LoopMeasurement {
    Plaquette plaquette;
    std::complex<double> polyakov;
};

/// The halo and the memory of a worker.
struct WorkerMemory {
    int width = 1;                                           ///< layers of the halo of links; 2 for trajectories
    std::uint64_t extended_bytes = 4 * sizeof(Su3<double>);  ///< of the local lattice with its halo, per site
    std::uint64_t local_bytes = 0;                           ///< of the local lattice, per site
};

class DistributedGauge {
   public:
    /// Only the root rank calls this; every other rank calls gauge_worker_loop().
    /// @param communicator  must outlive it   @param here  the spaces of this rank's workers   @param grid  of as many workers
    /// @throws InputError where workers have different kinds of spaces, or not enough memory
    DistributedGauge(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const RankGrid& grid,
                     const WorkerMemory& memory = {});
    ~DistributedGauge();
    DistributedGauge(const DistributedGauge&) = delete;
    DistributedGauge& operator=(const DistributedGauge&) = delete;

    /// Starts as in gauge/start.hpp.
    void cold_start();
    void hot_start(std::uint64_t seed);
    void weak_start(double epsilon, std::uint64_t seed);
    /// Sends each worker its part.
    void load(const GaugeField& field);
    /// Collects the links of all workers.
    GaugeField field();

    /// Sweeps as in gauge/update.hpp.
    void heatbath_sweep(double beta, std::uint64_t seed, std::uint64_t sweep);
    void overrelaxation_sweep();
    void reunitarise();
    LoopMeasurement measure();

    /// Does the same as loop_means() of gauge/gauge_action.hpp. Needs a halo of width 2, as trajectories do.
    LoopMeans loop_means();
    /// The Wilson flow of a copy of the links.
    std::vector<FlowPoint> flow(double t_max, double step);

    /// Makes the terms of the action and the memory of trajectories. @throws InputError as the terms
    HmcBegin begin_trajectories(HmcSetup setup);
    /// Does the same as measure_spectrum() for the present links. @param quarks  number of an operator of begin_trajectories(): that of two
    /// flavours, if there is one, then those of one flavour each
    Spectrum spectrum(int quarks, std::uint64_t seed, std::uint64_t trajectory);
    /// As RationalTerm::set(). @param flavour  number in HmcSetup::flavours
    void set_approximation(int flavour, RationalApproximation R);
    /// Replaces the levels of the integrator for the next trajectories.
    void set_levels(std::vector<Level> levels);
    /// Does the same as HybridMonteCarlo::trajectory(); only worker 0 uses `timers` and `stop`.
    std::optional<TrajectoryResult> trajectory(std::uint64_t number, bool test = true, Timers* timers = nullptr,
                                               const std::function<bool()>& stop = {}, bool reverse = false);

    const RankGrid& grid() const { return grid_; }

   private:
    comm::Communicator& ranks_;
    RankGrid grid_;
    std::unique_ptr<LocalGauges> workers_;
};

/// Executes the commands of the root rank until its DistributedGauge is destroyed or could not be made; for all ranks but the root rank.
void gauge_worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// Bytes of one worker's links, halo, buffers of messages and the memory that is given, on its space.
std::uint64_t local_gauge_bytes(const RankGrid& grid, const WorkerMemory& memory = {});

}  // namespace kasane::lattice
