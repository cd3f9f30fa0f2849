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
        end
    };
    Verb verb = Verb::end;
    double number = 0;  ///< epsilon of a weak start, beta of a heatbath
    std::uint64_t seed = 0, sweep = 0;
};

/// What is needed to make the links.
struct GaugeSetup {
    Extents extents;
    GridShape shape;
    std::uint64_t kind = 0;  ///< kind of the workers' spaces: index of the alternative of AnySpace
};

/// One worker's links.
class WorkerGauge {
   public:
    virtual ~WorkerGauge() = default;
    virtual void load(const GaugeField& local) = 0;
    virtual GaugeField field() const = 0;
    /// Executes a command other than load and collect.
    virtual LoopMeasurement execute(const GaugeCommand& command) = 0;
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

   private:
    comm::WorkerCommunicator& communicator_;
    RankGrid grid_;
    std::vector<std::unique_ptr<WorkerGauge>> workers_;
};

}  // namespace kasane::lattice
