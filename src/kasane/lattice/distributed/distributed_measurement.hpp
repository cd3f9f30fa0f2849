// `kasane lattice measure` on all workers of a communicator: each reads its part of a configuration and measures it together with the
// others. Every rank calls measure_on_workers(), the root rank with its request; the others receive it.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <complex>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

struct MeasurementRequest {
    std::string file;
    std::optional<GridShape> shape;  ///< of the grid; without one, the best
    double flow_time = 0;            ///< 0: no flow
    double flow_step = 0.01;
};

struct GluonicMeasurement {
    Plaquette plaquette;
    double link_trace = 0;
    std::complex<double> polyakov;
    double charge = 0;
    std::vector<FlowPoint> flow;
};

struct DistributedMeasurement {
    RankGrid grid;
    GaugeFileFacts facts;
    GluonicMeasurement measured;
    double seconds = 0;  ///< without reading
};

/// Collective over the ranks; all return the same. @param here  the spaces of this rank's workers
/// @param request  of the root rank; not read on the other ranks
/// @throws InputError on every rank: as read_local_gauge(); not enough memory on one of the workers
DistributedMeasurement measure_on_workers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here,
                                          MeasurementRequest request);

/// Bytes that the links need on a space: those of this lattice, and as many numbers for the flow.
std::uint64_t measurement_bytes(const Extents& extents, bool flows);

}  // namespace kasane::lattice
