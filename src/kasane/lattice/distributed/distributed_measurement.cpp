#include <kasane/lattice/distributed/distributed_measurement.hpp>

#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/distributed/agreement.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/distributed/local_file.hpp>

#include <variant>

namespace kasane::lattice {
namespace {

/// The request as plain bytes; the name of the file follows.
struct PlainRequest {
    std::uint64_t length = 0, has_shape = 0, kind = 0;
    GridShape shape{};
    double flow_time = 0, flow_step = 0;
};

/// @returns the kind of the root rank's spaces
std::uint64_t broadcast(comm::Communicator& ranks, MeasurementRequest& request, std::uint64_t kind) {
    PlainRequest plain{request.file.size(), request.shape ? 1U : 0U, kind, request.shape.value_or(GridShape{}),
                       request.flow_time,   request.flow_step};
    ranks.broadcast(&plain, sizeof plain, 0);
    request.file.resize(plain.length);
    ranks.broadcast(request.file.data(), request.file.size(), 0);
    request.shape = plain.has_shape ? std::optional(plain.shape) : std::nullopt;
    request.flow_time = plain.flow_time;
    request.flow_step = plain.flow_step;
    return plain.kind;
}

template <Space S>
GluonicMeasurement measured_by(S on, comm::Worker& worker, LocalGaugeFile& local, const MeasurementRequest& request) {
    LinkHalo<S> halo(on, worker, local.grid);
    agree_on_memory(worker, on, halo.sites().local, measurement_bytes(halo.sites().extended, request.flow_time > 0));
    auto u = halo.extended(local.file.field);
    local.file.field = {};
    GluonicMeasurement of{plaquette(halo, u), link_trace(halo, u), polyakov_loop(halo, u), energy_and_charge(halo, u).charge, {}};
    if (request.flow_time > 0) of.flow = wilson_flow(halo, u, request.flow_time, request.flow_step);
    return of;
}

}  // namespace

std::uint64_t measurement_bytes(const Extents& extents, bool flows) {
    return static_cast<std::uint64_t>(extents.volume()) * 4 * sizeof(Su3<double>) * (flows ? 2 : 1);
}

DistributedMeasurement measure_on_workers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here,
                                          MeasurementRequest request) {
    const auto kind = broadcast(communicator.ranks(), request, here.empty() ? 0 : here.front().index());
    std::optional<DistributedMeasurement> result;  // of local worker 0
    communicator.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        agree_on_kind(worker, here, kind);
        const auto* cpu = std::get_if<Cpu>(&here[l]);
        auto local = read_local_gauge(worker, cpu ? *cpu : Cpu{}, request.shape, request.file);
        const Stopwatch watch;
        auto measured = std::visit([&](auto on) { return measured_by(on, worker, local, request); }, here[l]);
        if (l == 0) result = {local.grid, std::move(local.file.facts), std::move(measured), watch.seconds()};
    });
    return std::move(*result);
}

}  // namespace kasane::lattice
