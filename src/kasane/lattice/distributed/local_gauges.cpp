#include <kasane/lattice/distributed/local_gauges.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/agreement.hpp>
#include <kasane/lattice/distributed/divided_lattice.hpp>
#include <kasane/lattice/distributed/divided_quark_lattice.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/distributed/scatter.hpp>
#include <kasane/lattice/distributed/updates.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace kasane::lattice {
namespace {

template <Space S>
class GaugeOn final : public WorkerGauge {
   public:
    GaugeOn(S on, comm::Worker& worker, const RankGrid& grid, int width) : halo_(on, worker, grid, width), u_(halo_.links()) {}

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

    LoopMeans loop_means() override {
        halo_.exchange(u_);  // trajectories may need less of it
        return lattice::loop_means(halo_, u_);
    }
    std::vector<FlowPoint> flow(double t_max, double step) override {
        auto v = halo_.links();
        copy_links(u_, v);
        return wilson_flow(halo_, v, t_max, step);
    }
    HmcBegin begin_trajectories(const HmcSetup& setup) override {
        HmcBegin begin;
        typename Hmc::Terms terms;
        terms.push_back(std::make_unique<DividedGaugeTerm<S>>(halo_, setup.action));
        hmc_.reset(), operators_.clear(), rational_.clear();  // the memory first
        if (setup.quarks || !setup.flavours.empty()) {
            halo_.exchange(u_);
            faces_.emplace(halo_.space(), halo_.worker(), halo_.grid(), halo_site_bytes<Precision::double_>);
            const DividedQuarkLattice<S> part(halo_, *faces_);
            if (setup.quarks) add_quarks(part, *setup.quarks, setup.seed, begin, terms);
            for (const auto& flavour : setup.flavours) add_flavour(part, flavour, terms);
        }
        for (const auto& term : terms) begin.terms.push_back(term->name());
        hmc_.emplace(DividedLattice<S>(halo_, halo_depth(setup.action)), std::move(terms), setup.levels, setup.length, setup.seed);
        return begin;
    }
    Spectrum spectrum(const GaugeCommand& command) override {
        auto& D = *of(operators_, command.quarks);
        D.pack(u_);
        return measure_spectrum(D, command.seed, command.sweep);
    }
    void set_approximation(int flavour, const RationalApproximation& R) override { of(rational_, flavour)->set(R); }
    void set_levels(const std::vector<Level>& levels) override { hmc_->set_levels(levels); }
    std::optional<TrajectoryResult> trajectory(const GaugeCommand& command, Timers* timers, const std::function<bool()>& stop) override {
        return hmc_->trajectory(u_, command.sweep, command.test != 0, timers, stop, command.reverse != 0);
    }

   private:
    using Hmc = HybridMonteCarlo<S, DividedLattice<S>>;
    using Quarks = QuarkOperator<S, DividedQuarkLattice<S>>;
    using Rational = RationalTerm<S, DividedQuarkLattice<S>>;

    template <class T>
    static T& of(std::vector<T>& all, std::int64_t number) {
        KS_REQUIRE(number >= 0 && number < std::ssize(all),
                   "quarks " + std::to_string(number) + " of " + std::to_string(all.size()) + " of begin_trajectories()");
        return all[static_cast<std::size_t>(number)];
    }
    void add_quarks(const DividedQuarkLattice<S>& part, const QuarkSetup& quarks, std::uint64_t seed, HmcBegin& begin,
                    typename Hmc::Terms& terms) {
        auto D = std::make_shared<Quarks>(part, quarks.parameters, quarks.solver);
        begin.action_residual = unreached_residual(*D, u_, seed, quarks.tolerances.value);
        begin.force_residual = unreached_residual(*D, u_, seed, quarks.tolerances.force, quarks.solver.force);
        for (auto& term : quark_action<S>(D, quarks.masses, quarks.tolerances)) terms.push_back(std::move(term));
        operators_.push_back(std::move(D));
    }
    void add_flavour(const DividedQuarkLattice<S>& part, const FlavourSetup& flavour, typename Hmc::Terms& terms) {
        auto D = std::make_shared<Quarks>(part, flavour.parameters, flavour.solver);
        auto added = one_flavour_action<S>(D, flavour.number, {}, flavour.tolerances);
        rational_.push_back(static_cast<Rational*>(added.front().get()));
        for (auto& term : added) terms.push_back(std::move(term));
        operators_.push_back(std::move(D));
    }

    LinkHalo<S> halo_;
    Links<S> u_;
    std::optional<HaloExchange<S>> faces_;            ///< of hops
    std::vector<std::shared_ptr<Quarks>> operators_;  ///< of two flavours, then of one each
    std::vector<Rational*> rational_;                 ///< terms of hmc_
    std::optional<Hmc> hmc_;
};

}  // namespace

LocalGauges::LocalGauges(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const GaugeSetup& setup)
    : communicator_(communicator),
      grid_(RankGrid::given(setup.extents, communicator.size(), setup.shape)),
      workers_(static_cast<std::size_t>(communicator.workers_per_rank())) {
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        agree_on_kind(worker, here, setup.kind);
        agree_on_memory(worker, here[l], grid_.local(), local_gauge_bytes(grid_, setup.memory));
        std::visit([&]<Space S>(S on) { workers_[l] = std::make_unique<GaugeOn<S>>(on, worker, grid_, setup.memory.width); }, here[l]);
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

template <class Body>
auto LocalGauges::on_workers(const Body& body) {
    using Result = std::invoke_result_t<Body, comm::Worker&, WorkerGauge&>;
    std::vector<std::optional<Result>> results(workers_.size());
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        results[l].emplace(body(worker, *workers_[l]));
    });
    return std::move(*results.front());
}

LoopMeasurement LocalGauges::execute(const GaugeCommand& command) {
    return on_workers([&](comm::Worker&, WorkerGauge& gauge) { return gauge.execute(command); });
}
LoopMeans LocalGauges::loop_means() {
    return on_workers([](comm::Worker&, WorkerGauge& gauge) { return gauge.loop_means(); });
}
std::vector<FlowPoint> LocalGauges::flow(double t_max, double step) {
    return on_workers([&](comm::Worker&, WorkerGauge& gauge) { return gauge.flow(t_max, step); });
}
HmcBegin LocalGauges::begin_trajectories(const HmcSetup& setup) {
    return on_workers([&](comm::Worker&, WorkerGauge& gauge) { return gauge.begin_trajectories(setup); });
}
Spectrum LocalGauges::spectrum(const GaugeCommand& command) {
    return on_workers([&](comm::Worker&, WorkerGauge& gauge) { return gauge.spectrum(command); });
}
void LocalGauges::set_approximation(int flavour, const RationalApproximation& R) {
    communicator_.run([&](comm::Worker& worker) { workers_[static_cast<std::size_t>(worker.local())]->set_approximation(flavour, R); });
}
void LocalGauges::set_levels(const std::vector<Level>& levels) {
    for (const auto& gauge : workers_) gauge->set_levels(levels);
}
std::optional<TrajectoryResult> LocalGauges::trajectory(const GaugeCommand& command, Timers* timers, const std::function<bool()>& stop) {
    return on_workers([&](comm::Worker& worker, WorkerGauge& gauge) {
        const bool first = worker.index() == 0;
        return gauge.trajectory(command, first ? timers : nullptr, first ? stop : std::function<bool()>{});
    });
}

}  // namespace kasane::lattice
