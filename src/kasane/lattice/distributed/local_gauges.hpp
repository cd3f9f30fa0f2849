// The links of one rank's workers for a DistributedGauge, and the commands that they execute.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/distributed_gauge.hpp>

#include <memory>
#include <vector>

namespace kasane::lattice {

/// A command, as plain bytes.
struct GaugeCommand {
    enum class Verb : std::int64_t {
        make,
        cold_start,
        hot_start,
        weak_start,
        load,
        collect,
        heatbath,
        overrelaxation,
        reunitarise,
        measure,
        loops,
        flow,
        begin_trajectories,  ///< an HmcSetup follows
        spectrum,
        approximation,  ///< a RationalApproximation follows
        levels,         ///< a list of Level follows
        trajectory,
        end
    };
    Verb verb = Verb::end;
    double number = 0;                   ///< epsilon of a weak start, beta of a heatbath, end of a flow
    std::uint64_t seed = 0, sweep = 0;   ///< number of the sweep or trajectory
    double step = 0;                     ///< of a flow
    std::int64_t test = 1, reverse = 0;  ///< of a trajectory
    std::int64_t quarks = 0;             ///< number of the operator, or of the flavour
};

/// Parameters from which the links are made.
struct GaugeSetup {
    Extents extents;
    GridShape shape;
    std::uint64_t kind = 0;  ///< kind of the workers' spaces: index of the alternative of AnySpace
    WorkerMemory memory;
};

/// One worker's links.
class WorkerGauge {
   public:
    virtual ~WorkerGauge() = default;
    virtual void load(const GaugeField& local) = 0;
    virtual GaugeField field() const = 0;
    /// Executes a start, an update or `measure`.
    virtual LoopMeasurement execute(const GaugeCommand& command) = 0;
    virtual LoopMeans loop_means() = 0;
    virtual std::vector<FlowPoint> flow(double t_max, double step) = 0;
    virtual HmcBegin begin_trajectories(const HmcSetup& setup) = 0;
    virtual Spectrum spectrum(const GaugeCommand& command) = 0;
    virtual void set_approximation(int flavour, const RationalApproximation& R) = 0;
    virtual void set_levels(const std::vector<Level>& levels) = 0;
    virtual std::optional<TrajectoryResult> trajectory(const GaugeCommand& command, Timers* timers, const std::function<bool()>& stop) = 0;
};

class LocalGauges {
   public:
    /// Collective over the ranks. @throws InputError on every rank when a worker cannot be made
    LocalGauges(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const GaugeSetup& setup);

    /// Collective, as all of these. @param field  of the whole lattice on the root rank; not read on the others
    void load(const GaugeField& field);
    /// @param field  of the whole lattice on the root rank; not written on the others
    void collect(GaugeField& field);
    LoopMeasurement execute(const GaugeCommand& command);
    LoopMeans loop_means();
    std::vector<FlowPoint> flow(double t_max, double step);
    HmcBegin begin_trajectories(const HmcSetup& setup);
    Spectrum spectrum(const GaugeCommand& command);
    void set_approximation(int flavour, const RationalApproximation& R);
    void set_levels(const std::vector<Level>& levels);
    /// @param timers, stop  of worker 0
    std::optional<TrajectoryResult> trajectory(const GaugeCommand& command, Timers* timers, const std::function<bool()>& stop);

   private:
    /// Calls body(worker, its links) on all workers of this rank. @returns the result of the first of them
    template <class Body>
    auto on_workers(const Body& body);

    comm::WorkerCommunicator& communicator_;
    RankGrid grid_;
    std::vector<std::unique_ptr<WorkerGauge>> workers_;
};

}  // namespace kasane::lattice
