// lattice.trajectory: the parts of whole trajectories of hybrid Monte Carlo with clover quarks, and their copies between host and device.
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/host_copies.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include <fmt/format.h>

#include <string>

namespace kasane::bench {

using namespace lattice;

namespace {

/// Two flavours at a moderate mass, one Hasenbusch mass.
constexpr DiracParameters trajectory_quarks{0.13, 1.76, Boundary::antiperiodic};
constexpr double hasenbusch_mass = 0.3;
constexpr int outer_steps = 4, gauge_steps = 4, measured_trajectories = 2;

/// Adds the time of a call to a part, until the space has done the work of the call.
template <Space S, class F>
void timed_part(S on, Timers& timers, const std::string& part, F call) {
    synchronize(on);
    const Stopwatch watch;
    call();
    synchronize(on);
    timers.add(part, watch.seconds());
}

/// A pseudofermion term whose set-up of the operator is timed apart from the rest.
template <Space S>
class TimedTerm final : public ActionTerm<S> {
   public:
    TimedTerm(std::unique_ptr<ActionTerm<S>> term, std::shared_ptr<QuarkOperator<S>> D, Timers& timers)
        : term_(std::move(term)), D_(std::move(D)), timers_(timers) {}
    std::string name() const override { return term_->name(); }
    void refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) override {
        set_up(u);
        timed_part(u.space(), timers_, "solves", [&] { term_->refresh(u, seed, trajectory); });
    }
    double value(const Links<S>& u) override {
        set_up(u);
        double of = 0;
        timed_part(u.space(), timers_, "solves", [&] { of = term_->value(u); });
        return of;
    }
    void add_force(const Links<S>& u, double factor, Links<S>& force) override {
        set_up(u);
        timed_part(u.space(), timers_, "solves and forces", [&] { term_->add_force(u, factor, force); });
    }
    void forget() override { term_->forget(); }
    int take_iterations() override { return term_->take_iterations(); }

   private:
    void set_up(const Links<S>& u) {
        timed_part(u.space(), timers_, "set-up of operators", [&] { D_->pack(u); });
    }
    std::unique_ptr<ActionTerm<S>> term_;
    std::shared_ptr<QuarkOperator<S>> D_;
    Timers& timers_;
};

/// Bytes of an iteration of conjugate gradients for each even site: Dhat and its adjoint in single precision, and nine vectors of the
/// recurrence.
template <Space S>
double iteration_bytes(const std::shared_ptr<const Lattice<S>>& lattice, const Links<S>& u) {
    const auto A = clover_term(u, trajectory_quarks.kappa * trajectory_quarks.csw);
    const Dirac<S, Precision::single> dirac(lattice, u, &A, trajectory_quarks.boundary, {.reals = LinkReals::two_rows});
    constexpr double vectors = 9 * 24 * sizeof(float);
    return 2 * (dirac.bytes_per_site(HopForm::inverse, false) + dirac.bytes_per_site(HopForm::clover, true)) + vectors;
}

double seconds_of(const Timers& timers, const std::string& part) {
    const auto at = timers.parts().find(part);
    return at == timers.parts().end() ? 0 : at->second.seconds;
}

template <Space S>
void trajectories(const BenchmarkContext& context, S on, const Extents& extents, const MemorySpeed& speed) {
    Timers parts, dynamics;
    auto D = std::make_shared<QuarkOperator<S>>(on, extents, trajectory_quarks);
    const QuarkTolerances tolerances{.value = 1e-11, .force = 1e-8, .chronological = 3};
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{5.6, 0}));
    Level outer{Integrator::omelyan2, outer_steps, {}};
    for (auto& term : quark_action<S>(D, {hasenbusch_mass}, tolerances)) {
        outer.terms.push_back(static_cast<int>(terms.size()));
        const bool solves = term->name().starts_with("quark");
        terms.push_back(solves ? std::make_unique<TimedTerm<S>>(std::move(term), D, parts) : std::move(term));
    }
    HybridMonteCarlo<S> hmc(on, extents, std::move(terms), {outer, {Integrator::omelyan2, gauge_steps, {0}}}, 1, 1);
    Links<S> u(on, extents);
    weak_start(u, 0.2, 1);
    hmc.trajectory(u, 0, false, nullptr);  // links that are nearer to equilibrium, and memory that is allocated once
    // The force of one solution: hop, W and leaves.
    auto x = D->vector();
    gaussian_field(1, 1, 0, Parity::even, x);
    Links<S> force(on, extents);
    set_zero(force);
    D->pack(u);
    const double force_seconds = time_calls(on, [&] { D->add_force(u, x, 1, force); }).seconds;

    parts = {};
    const auto before = host_copies();
    reset_largest_host_copy();
    const Stopwatch watch;
    int iterations = 0;
    for (int number = 1; number <= measured_trajectories; ++number) {
        const auto done = hmc.trajectory(u, static_cast<std::uint64_t>(number), false, &dynamics);
        for (const auto& term : done->terms) iterations += term.iterations;
    }
    BenchmarkResult row;
    row.name = fmt::format("lattice.trajectory, clover{}", threads_label(on));
    row.n = extents.volume();
    row.seconds = watch.seconds() / measured_trajectories;
    row.rate = 1 / row.seconds, row.unit = "trajectories/s";
    const double bytes = iteration_bytes(D->lattice(), u) * iterations / measured_trajectories * static_cast<double>(extents.half());
    row.bound = speed.triad / bytes;
    row.bound_reason = "the bytes of the iterations alone, each number moved once in single precision: " + words(speed);
    const auto copies = host_copies();
    const double per = 1. / measured_trajectories;
    const auto forces = dynamics.parts().find("force, quark 1")->second.calls + dynamics.parts().find("force, quark 2")->second.calls;
    const double quark_forces = force_seconds * static_cast<double>(forces) * per;
    const double solves = (seconds_of(parts, "solves") + seconds_of(parts, "solves and forces")) * per - quark_forces;
    row.more = {{"L", static_cast<double>(extents[0])},
                {"seconds of operator and solver", solves},
                {"share of operator and solver", solves / row.seconds},
                {"seconds of quark forces (hop, W, leaves)", quark_forces},
                {"seconds of set-up of operators", seconds_of(parts, "set-up of operators") * per},
                {"quark forces", static_cast<double>(forces) * per},
                {"iterations", iterations * per}};
    for (const char* part : {"force, gauge", "force, clover determinant", "links", "momenta", "force norms"})
        row.more.emplace_back(fmt::format("seconds of {}", part), seconds_of(dynamics, part) * per);
    // The smallest field of the solver: the even sites in half precision.
    row.more.emplace_back("copies between host and device", static_cast<double>(copies.count - before.count) * per);
    row.more.emplace_back("bytes of them", static_cast<double>(copies.bytes - before.bytes) * per);
    row.more.emplace_back("bytes of the largest", static_cast<double>(copies.largest));
    row.more.emplace_back("bytes of the smallest field", 24. * static_cast<double>(extents.half()));
    context.report(row);
}

}  // namespace

Benchmark lattice_trajectory(const SharedLattice& shared) {
    return {
        "lattice.trajectory",
        "Whole trajectories of hybrid Monte Carlo: Wilson gauge action (beta 5.6), two flavours of clover quarks (kappa 0.13, c_sw 1.76, "
        "antiperiodic in time) with one Hasenbusch mass, two nested levels of second-order minimum-norm steps, from links U = exp(0.2 i "
        "P); mean of two trajectories after one for warm-up. The parts are timed with a wait after each of them; `operator and solver` is "
        "the time of the pseudofermion terms without the set-up of the operator and the force of a solution, which is timed alone. Copies "
        "between host and device are those of one "
        "trajectory. The bound is that of the bytes of the iterations. 8^3 x 16 on a CPU, 16^3 x 32 and 32^3 x 64 on a device, `--n L` for "
        "L^4.",
        [shared](const BenchmarkContext& context) {
            const auto& speed = shared->speed(context.space);
            std::visit(
                [&](auto on) {
                    if (!context.sizes.empty() || std::holds_alternative<Cpu>(context.space)) {
                        for (const auto& extents : volumes_or(context, {{8, 8, 8, 16}})) trajectories(context, on, extents, speed);
                    } else {
                        for (const auto& extents : {Extents{{16, 16, 16, 32}}, Extents{{32, 32, 32, 64}}})
                            trajectories(context, on, extents, speed);
                    }
                },
                context.space);
        }};
}

}  // namespace kasane::bench
