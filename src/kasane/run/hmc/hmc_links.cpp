#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>
#include <kasane/run/hmc/hmc.hpp>
#include <kasane/run/hmc/hmc_links.hpp>

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace kasane::run {
namespace {

/// Poles of a rational approximation in the estimate of memory, before the spectrum is measured: those for an error of 1e-12 on a range of
/// 1e6.
constexpr int expected_poles = 26;

/// @param residual  at which rounding ends a solve with the links of the start; 0: it reaches rtol   @throws InputError: it does not
void check_tolerance(const char* key, double rtol, double residual, const HmcFile& file) {
    KS_VALIDATE(residual == 0,
                fmt::format("is {:.1g}, and a solve with the links of the start ends at a residual of {:.1e}, which double precision does "
                            "not improve. Take at least {:.0e}",
                            rtol, residual, 10 * residual),
                {file.path.string(), 0, 0, key});
}

template <Space S>
class HmcLinksOfOneDevice final : public HmcLinks {
   public:
    HmcLinksOfOneDevice(S on, const HmcFile& file) : on_(on), file_(file) {}

    void start(const RunControls& controls) override { u_ = first_links(on_, file_, controls); }
    void load(const lattice::GaugeField& field) override { u_ = lattice::links_on(on_, field); }
    lattice::GaugeField field() override { return lattice::to_gauge_field(*u_); }

    std::vector<std::string> begin(int steps) override {
        typename lattice::HybridMonteCarlo<S>::Terms terms;
        terms.push_back(std::make_unique<lattice::GaugeTerm<S>>(file_.action));
        if (const auto& quarks = file_.quarks) {
            if (quarks->flavours == 2) {
                auto D = std::make_shared<Quarks>(on_, file_.extents, quarks->parameters(), quarks->solver());
                check_tolerance("quarks.action_rtol", quarks->action_rtol,
                                lattice::unreached_residual(*D, *u_, file_.seed, quarks->action_rtol), file_);
                check_tolerance("quarks.force_rtol", quarks->force_rtol,
                                lattice::unreached_residual(*D, *u_, file_.seed, quarks->force_rtol, D->options().force), file_);
                for (auto& term : lattice::quark_action<S>(D, quarks->masses, quarks->tolerances())) terms.push_back(std::move(term));
                operators_.push_back(std::move(D));
            }
            for (const auto& flavour : quarks->flavour_setups()) {
                auto D = std::make_shared<Quarks>(on_, file_.extents, flavour.parameters, flavour.solver);
                auto added = lattice::one_flavour_action<S>(D, flavour.number, {}, flavour.tolerances);
                rational_.push_back(static_cast<lattice::RationalTerm<S>*>(added.front().get()));
                for (auto& term : added) terms.push_back(std::move(term));
                operators_.push_back(std::move(D));
            }
        }
        std::vector<std::string> names;
        for (const auto& term : terms) names.push_back(term->name());
        hmc_.emplace(on_, file_.extents, std::move(terms), file_.levels(steps), file_.length, file_.seed);
        return names;
    }
    void set_steps(int steps) override { hmc_->set_levels(file_.levels(steps)); }
    std::optional<lattice::TrajectoryResult> trajectory(std::uint64_t number, bool test, Timers& timers, const std::function<bool()>& stop,
                                                        bool reverse) override {
        return hmc_->trajectory(*u_, number, test, &timers, stop, reverse);
    }

    lattice::LoopMeans loop_means() override { return lattice::loop_means(*u_); }
    std::vector<lattice::FlowPoint> flow() override {
        lattice::Links<S> v(on_, file_.extents);
        lattice::copy_links(*u_, v);
        return lattice::wilson_flow(v, file_.measure.flow_time, file_.measure.flow_step);
    }
    lattice::Spectrum spectrum(int quarks, std::uint64_t trajectory) override {
        auto& D = *operators_[static_cast<std::size_t>(quarks)];
        D.pack(*u_);
        return lattice::measure_spectrum(D, file_.seed, trajectory);
    }
    void set_approximation(int flavour, lattice::RationalApproximation R) override {
        rational_[static_cast<std::size_t>(flavour)]->set(std::move(R));
    }

   private:
    using Quarks = lattice::QuarkOperator<S>;

    S on_;
    const HmcFile& file_;
    std::optional<lattice::Links<S>> u_;
    std::optional<lattice::HybridMonteCarlo<S>> hmc_;
    std::vector<std::shared_ptr<Quarks>> operators_;   ///< of two flavours, then of one each
    std::vector<lattice::RationalTerm<S>*> rational_;  ///< terms of hmc_
};

/// Bytes of the links of a run, of momenta and of copies, per site.
std::uint64_t bytes_of_links(const HmcFile& file) {
    // The links of a flow and a second field; or the links at the end of a trajectory that is reversed.
    return lattice::HybridMonteCarlo<Cpu>::bytes_per_site(file.levels()) + links_bytes * (file.measure.flow_every > 0            ? 2
                                                                                          : file.measure.reversibility_every > 0 ? 1
                                                                                                                                 : 0);
}

/// Bytes of operators and fields of quarks, per site.
std::uint64_t bytes_of_quarks(const HmcFile& file) {
    if (!file.quarks) return 0;
    const auto& quarks = *file.quarks;
    // Of each pseudofermion field phi, X and earlier solutions; eta, all of the even sites.
    const double fields = static_cast<double>(quarks.two_flavour_fields());
    using Operator = lattice::QuarkOperator<Cpu>;
    double bytes = file.measure.spectrum_every > 0 ? 4 * 12 * sizeof(double) : 0;
    if (quarks.flavours == 2)
        bytes += Operator::bytes_per_site(quarks.parameters(), quarks.solver(), file.extents) + (2 * fields + 1) * 12 * sizeof(double) +
                 fields * lattice::ChronologicalGuess<Cpu>::bytes_per_site(quarks.chronological);
    for (const auto& each : quarks.single)
        bytes += Operator::bytes_per_site(quarks.parameters(each), HmcQuarks::flavour_solver()) +
                 lattice::RationalTerm<Cpu>::bytes_per_site(expected_poles);
    return static_cast<std::uint64_t>(bytes);
}

lattice::WorkerMemory worker_memory(const HmcFile& file) {
    lattice::WorkerMemory memory{.width = 2, .extended_bytes = bytes_of_links(file), .local_bytes = bytes_of_quarks(file)};
    if (!file.quarks) return memory;
    memory.local_bytes += 3 * links_bytes;  // links of hops, with and without those that leave the local lattice, and the force of hops
    if (file.quarks->csw != 0) memory.extended_bytes += (72 + 54) * sizeof(double);  // clover term and its weights
    return memory;
}

class HmcLinksOfWorkers final : public HmcLinks {
   public:
    HmcLinksOfWorkers(const HmcFile& file, RankCoordinator& ranks)
        : file_(file), u_(ranks.workers(hmc_kind.name, file.here), file.here, *file.grid, worker_memory(file)) {}

    void start(const RunControls&) override { start_links(file_, u_); }
    void load(const lattice::GaugeField& field) override { u_.load(field); }
    lattice::GaugeField field() override { return u_.field(); }

    std::vector<std::string> begin(int steps) override {
        lattice::HmcSetup setup{.action = file_.action, .levels = file_.levels(steps), .length = file_.length, .seed = file_.seed};
        const auto& quarks = file_.quarks;
        const bool two = quarks && quarks->flavours == 2;
        if (two) setup.quarks = {quarks->parameters(), quarks->solver(), quarks->tolerances(), quarks->masses};
        if (quarks) setup.flavours = quarks->flavour_setups();
        auto begin = u_.begin_trajectories(std::move(setup));
        if (two) check_tolerance("quarks.action_rtol", quarks->action_rtol, begin.action_residual, file_);
        if (two) check_tolerance("quarks.force_rtol", quarks->force_rtol, begin.force_residual, file_);
        return std::move(begin.terms);
    }
    void set_steps(int steps) override { u_.set_levels(file_.levels(steps)); }
    std::optional<lattice::TrajectoryResult> trajectory(std::uint64_t number, bool test, Timers& timers, const std::function<bool()>& stop,
                                                        bool reverse) override {
        return u_.trajectory(number, test, &timers, stop, reverse);
    }

    lattice::LoopMeans loop_means() override { return u_.loop_means(); }
    std::vector<lattice::FlowPoint> flow() override { return u_.flow(file_.measure.flow_time, file_.measure.flow_step); }
    lattice::Spectrum spectrum(int quarks, std::uint64_t trajectory) override { return u_.spectrum(quarks, file_.seed, trajectory); }
    void set_approximation(int flavour, lattice::RationalApproximation R) override { u_.set_approximation(flavour, std::move(R)); }

   private:
    const HmcFile& file_;
    lattice::DistributedGauge u_;
};

}  // namespace

std::unique_ptr<HmcLinks> hmc_links(const HmcFile& file, RankCoordinator& ranks) {
    if (file.grid) return std::make_unique<HmcLinksOfWorkers>(file, ranks);
    return std::visit([&]<Space S>(S on) -> std::unique_ptr<HmcLinks> { return std::make_unique<HmcLinksOfOneDevice<S>>(on, file); },
                      file.space);
}

std::vector<RunMemory> hmc_memory(const HmcFile& file, const RankCoordinator& ranks) {
    if (file.grid) return divided_memory(file, ranks, lattice::local_gauge_bytes(*file.grid, worker_memory(file)));
    return {gauge_memory(file, bytes_of_links(file) + bytes_of_quarks(file))};
}

}  // namespace kasane::run
