#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>
#include <kasane/run/quenched/quenched.hpp>
#include <kasane/run/quenched/quenched_links.hpp>

#include <optional>
#include <variant>

namespace kasane::run {
namespace {

template <Space S>
class LinksOfOneDevice final : public QuenchedLinks {
   public:
    LinksOfOneDevice(S on, const QuenchedFile& file) : on_(on), file_(file) {}

    void start(const RunControls& controls) override { u_ = first_links(on_, file_, controls); }
    void load(const lattice::GaugeField& field) override { u_ = lattice::links_on(on_, field); }
    lattice::GaugeField field() override { return lattice::to_gauge_field(*u_); }
    void heatbath(std::uint64_t sweep) override {
        lattice::heatbath_sweep(*u_, file_.beta, file_.seed, sweep);
        synchronize(on_);
    }
    void overrelaxation() override {
        for (int k = 0; k < file_.overrelaxation; ++k) lattice::overrelaxation_sweep(*u_);
        lattice::reunitarise(*u_);
        synchronize(on_);
    }
    lattice::LoopMeasurement measure() override { return {lattice::plaquette(*u_), lattice::polyakov_loop(*u_)}; }

   private:
    S on_;
    const QuenchedFile& file_;
    std::optional<lattice::Links<S>> u_;
};

class LinksOfWorkers final : public QuenchedLinks {
   public:
    LinksOfWorkers(const QuenchedFile& file, RankCoordinator& ranks)
        : file_(file), u_(ranks.workers(quenched_kind.name, file.here), file.here, *file.grid) {}

    void start(const RunControls&) override { start_links(file_, u_); }
    void load(const lattice::GaugeField& field) override { u_.load(field); }
    lattice::GaugeField field() override { return u_.field(); }
    void heatbath(std::uint64_t sweep) override { u_.heatbath_sweep(file_.beta, file_.seed, sweep); }
    void overrelaxation() override {
        for (int k = 0; k < file_.overrelaxation; ++k) u_.overrelaxation_sweep();
        u_.reunitarise();
    }
    lattice::LoopMeasurement measure() override { return u_.measure(); }

   private:
    const QuenchedFile& file_;
    lattice::DistributedGauge u_;
};

}  // namespace

std::unique_ptr<QuenchedLinks> quenched_links(const QuenchedFile& file, RankCoordinator& ranks) {
    if (file.grid) return std::make_unique<LinksOfWorkers>(file, ranks);
    return std::visit([&]<Space S>(S on) -> std::unique_ptr<QuenchedLinks> { return std::make_unique<LinksOfOneDevice<S>>(on, file); },
                      file.space);
}

}  // namespace kasane::run
