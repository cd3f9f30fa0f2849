#include <kasane/lattice/distributed/local_gauges.hpp>

#include <kasane/lattice/distributed/agreement.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/distributed/scatter.hpp>
#include <kasane/lattice/distributed/updates.hpp>
#include <kasane/lattice/gauge/start.hpp>

#include <variant>

namespace kasane::lattice {
namespace {

template <Space S>
class GaugeOn final : public WorkerGauge {
   public:
    GaugeOn(S on, comm::Worker& worker, const RankGrid& grid) : halo_(on, worker, grid), u_(halo_.links()) {}

    void load(const GaugeField& local) override { u_ = halo_.extended(local); }
    GaugeField field() const override { return halo_.local(u_); }
    LoopMeasurement execute(const GaugeCommand& command) override {
        using enum GaugeCommand::Verb;
        switch (command.verb) {
            case cold_start: lattice::cold_start(halo_, u_); break;
            case hot_start: lattice::hot_start(halo_, u_, command.seed); break;
            case weak_start: lattice::weak_start(halo_, u_, command.number, command.seed); break;
            case heatbath: heatbath_sweep(halo_, u_, command.number, command.seed, command.sweep); break;
            case overrelaxation: overrelaxation_sweep(halo_, u_); break;
            case reunitarise: lattice::reunitarise(u_); break;  // the halo too, as its workers do
            case measure: return {plaquette(halo_, u_), polyakov_loop(halo_, u_)};
            default: break;
        }
        synchronize(halo_.space());
        return {};
    }

   private:
    LinkHalo<S> halo_;
    Links<S> u_;
};

}  // namespace

LocalGauges::LocalGauges(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const GaugeSetup& setup)
    : communicator_(communicator),
      grid_(RankGrid::given(setup.extents, communicator.size(), setup.shape)),
      workers_(static_cast<std::size_t>(communicator.workers_per_rank())) {
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        agree_on_kind(worker, here, setup.kind);
        agree_on_memory(worker, here[l], grid_.local(), local_gauge_bytes(grid_));
        std::visit([&]<Space S>(S on) { workers_[l] = std::make_unique<GaugeOn<S>>(on, worker, grid_); }, here[l]);
    });
}

void LocalGauges::load(const GaugeField& field) {
    const auto parts = scatter(communicator_, grid_, field);
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        workers_[l]->load(parts[l]);
    });
}

void LocalGauges::collect(GaugeField& field) {
    std::vector<GaugeField> parts;
    for (const auto& worker : workers_) parts.push_back(worker->field());
    gather(communicator_, grid_, parts, field);
}

LoopMeasurement LocalGauges::execute(const GaugeCommand& command) {
    std::vector<LoopMeasurement> measured(workers_.size());
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        measured[l] = workers_[l]->execute(command);
    });
    return measured.front();
}

}  // namespace kasane::lattice
