// lattice.hmc: kernels of hybrid Monte Carlo against the memory's speed, whole trajectories with the time of their parts, and the plaquette
// of the heatbath.
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/gauge/site_tiles.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace kasane::bench {

using namespace lattice;

namespace {

constexpr double link_bytes = sizeof(Su3<double>), rows_bytes = link_bytes * 2 / 3;

BenchmarkResult hmc_row(const std::string& name, const Extents& extents) {
    BenchmarkResult row;
    row.name = "lattice.hmc, " + name, row.n = extents.volume();
    row.error = std::numeric_limits<double>::quiet_NaN();
    return row;
}

/// |dS - <F, P>| / |<F, P>| along random momenta, with dS by differences of the action at six points.
template <Space S>
double force_error(const Links<S>& u, const GaugeAction& action) {
    Links<S> p(u.space(), u.extents), sum(u.space(), u.extents), moved(u.space(), u.extents);
    draw_momenta(p, 3, 0);
    copy_links(p, sum);
    add_gauge_force(u, action, 1, sum);
    Links<S> force(u.space(), u.extents);
    set_zero(force);
    add_gauge_force(u, action, 1, force);
    const double expected = kinetic_energy(sum) - kinetic_energy(p) - kinetic_energy(force);  // -2 sum tr(F P)
    const double h = 0.004;
    const auto at = [&](int k) {
        copy_links(u, moved);
        move_links(moved, p, k * h);
        return gauge_action(moved, action);
    };
    const double found = ((at(3) - at(-3)) - 9 * (at(2) - at(-2)) + 45 * (at(1) - at(-1))) / (60 * h);
    return std::abs(found - expected) / std::abs(expected);
}

/// Links, each once, that the force of Wilson's action needs for the sites of one block, for each link of these sites: what a block loads
/// from beyond the first-level cache where that holds all of them. Without the cache they are 19.
double links_of_block(const Extents& n, int multiprocessors) {
    const auto tiles = site_tiles(n, around_threads / 4, multiprocessors);
    std::set<std::pair<index_t, int>> needed;
    double own = 0;
    for (int place = 0; place < tiles.places(); ++place) {
        Site x = tiles.site(0, place);
        for (int slice = 0; slice < tiles.slices; ++slice, ++x[3], x[0] ^= 1)
            for (int mu = 0; mu < 4; ++mu, ++own)
                for (int nu = 0; nu < 4; ++nu) {
                    const Site ahead = n.shifted(x, mu, 1), up = n.shifted(x, nu, 1), down = n.shifted(x, nu, -1);
                    needed.emplace(n.lexicographic(x), nu);
                    if (nu == mu) continue;
                    for (const auto& [site, direction] :
                         {std::pair{ahead, nu}, {up, mu}, {down, nu}, {down, mu}, {n.shifted(ahead, nu, -1), nu}})
                        needed.emplace(n.lexicographic(site), direction);
                }
    }
    return static_cast<double>(needed.size()) / own;
}

/// A kernel that passes over the links; `fields` is the number of fields that it must read and write.
template <Space S, class F>
BenchmarkResult kernel_row(const BenchmarkContext& context, LatticeProblems& problems, const std::string& name, const Links<S>& u,
                           double fields, F call) {
    auto row = hmc_row(name, u.extents);
    const auto timing = time_calls(context.space, call);
    const auto links = 4 * static_cast<double>(u.extents.volume());
    row.seconds = timing.seconds, row.spread = timing.spread;
    row.rate = links / timing.seconds, row.unit = "links/s";
    row.bound = problems.speed(context.space).triad / (fields * link_bytes);
    row.bound_reason = fmt::format("{:.0f} bytes of each link: every matrix is read, or written, once", fields * link_bytes);
    return row;
}

template <Space S>
void kernels(const BenchmarkContext& context, LatticeProblems& problems, S on, const Extents& extents) {
    const auto u = links_on(on, problems.thermalised(context.space, extents, 6.0, 10));
    Links<S> p(on, extents), moved(on, extents);
    draw_momenta(p, 1, 1);
    const bool on_cpu = std::holds_alternative<Cpu>(context.space);
    for (const auto& each : gauge_actions) {
        if (std::string(each.name) == "symanzik" || std::string(each.name) == "dbw2") continue;  // the kernels of iwasaki
        const GaugeAction action{6, each.c1};
        // Two rows of each link are read.
        auto row =
            kernel_row(context, problems, fmt::format("force, {}", each.name), u, 8. / 3, [&] { add_gauge_force(u, action, 1e-9, p); });
        row.error = force_error(u, action);
        if (each.c1 == 0) {
            row.more = {{"bytes_with_links_once", rows_bytes + 2 * link_bytes}, {"bytes_of_all_loads", 19 * rows_bytes + 2 * link_bytes}};
            if (!on_cpu)
                row.more.emplace_back("bytes_with_links_once_a_block",
                                      links_of_block(extents, device_info(context.space).units) * rows_bytes + 2 * link_bytes);
        }
        context.report(row);
        context.report(kernel_row(context, problems, fmt::format("action, {}", each.name), u, 1, [&] { gauge_action(u, action); }));
    }
    const double per_link = 2. / 3;  // two rows are read
    context.report(kernel_row(context, problems, "energy and charge", u, per_link, [&] { energy_and_charge(u); }));
    copy_links(u, moved);
    // Each of four passes reads all links and writes a quarter of them.
    context.report(kernel_row(context, problems, "overrelaxation sweep", u, 4 * per_link + 1, [&] { overrelaxation_sweep(moved); }));
    context.report(kernel_row(context, problems, "heatbath sweep", u, 4 * per_link + 1, [&] { heatbath_sweep(moved, 6, 1, 1); }));
    copy_links(u, moved);
    context.report(kernel_row(context, problems, "links moved", u, 3, [&] { move_links(moved, p, 1e-3); }));
    context.report(kernel_row(context, problems, "momenta drawn", u, 1, [&] { draw_momenta(p, 1, 1); }));
}

/// Trajectories at beta in equilibrium, with the times of their parts and the plaquette of the heatbath.
template <Space S>
void quenched(const BenchmarkContext& context, S on, const Extents& extents, double beta, int trajectories) {
    Links<S> u(on, extents);
    hot_start(u, 1);
    std::vector<double> heatbath, plaquettes, weights, changes, accepted;
    for (int sweep = 0; sweep < trajectories; ++sweep) {
        heatbath_sweep(u, beta, 1, static_cast<std::uint64_t>(sweep));
        for (int k = 0; k < 4; ++k) overrelaxation_sweep(u);
        reunitarise(u);
        if (sweep >= trajectories / 5) heatbath.push_back(plaquette(u).mean());
    }
    typename HybridMonteCarlo<S>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<S>>(GaugeAction{beta, 0}));
    HybridMonteCarlo<S> hmc(on, extents, std::move(terms), {{Integrator::omelyan2, 8, {0}}}, 1, 2);
    cold_start(u);
    Timers timers;
    std::vector<double> seconds;
    for (int number = 0; number < trajectories; ++number) {
        const Stopwatch watch;
        const bool measured = number >= trajectories / 5;
        const auto done = hmc.trajectory(u, static_cast<std::uint64_t>(number), number >= 10, measured ? &timers : nullptr);
        if (!measured) continue;
        seconds.push_back(watch.seconds());
        plaquettes.push_back(plaquette(u).mean());
        changes.push_back(done->dH), weights.push_back(std::exp(-done->dH)), accepted.push_back(done->accepted);
    }
    std::ranges::sort(seconds);
    const auto own = estimate(plaquettes), other = estimate(heatbath), weight = estimate(weights), dH = estimate(changes);
    const double acceptance = estimate(accepted).mean;
    auto row = hmc_row(fmt::format("trajectory, wilson, beta {}, omelyan2 of 8 steps", beta), extents);
    row.seconds = seconds[seconds.size() / 2];
    row.spread = (seconds.back() - seconds.front()) / row.seconds;
    row.rate = 1 / row.seconds, row.unit = "trajectories/s";
    row.error = std::abs(own.mean - other.mean) / other.mean;
    row.more = {{"plaquette", own.mean},
                {"plaquette_error", own.error},
                {"heatbath", other.mean},
                {"heatbath_error", other.error},
                {"deviation_in_errors", (own.mean - other.mean) / std::hypot(own.error, other.error)},
                {"tau", own.tau},
                {"acceptance", acceptance},
                {"expected_acceptance", std::erfc(std::sqrt(std::max(dH.mean, 0.0)) / 2)},
                {"exp_minus_dH", weight.mean},
                {"exp_minus_dH_error", weight.error}};
    for (const auto& [name, part] : timers.parts())
        row.more.emplace_back("seconds of " + name, part.seconds / static_cast<double>(seconds.size()));
    context.report(row);
}

}  // namespace

Benchmark lattice_hmc(const SharedLattice& shared) {
    return {
        "lattice.hmc",
        "Kernels of hybrid Monte Carlo in double on a thermalised field (beta = 6; 8^3 x 16 on a CPU, 24^3 x 48 on a device, `--n L` for "
        "L^4; n counts sites), against the triad for each matrix read or written once, of links two rows where a kernel takes the third "
        "from "
        "them; `bytes_with_links_once_a_block` counts the links of a block's sites on a device, `bytes_of_all_loads` those of all threads; "
        "the error of a force is that of its product with "
        "random momenta against differences of the action at six points. `trajectory`: pure gauge trajectories of length 1 at beta 5.7 "
        "and 6.0 on 8^4, from a cold start, with the median time and that of the parts; the error is the relative difference of the "
        "plaquette from that of the heatbath, with both statistical errors beside it.",
        [shared](const BenchmarkContext& context) {
            const bool on_cpu = std::holds_alternative<Cpu>(context.space);
            std::visit(
                [&](auto on) {
                    for (const auto& extents : volumes_or(context, on_cpu ? Extents{{8, 8, 8, 16}} : Extents{{24, 24, 24, 48}}))
                        kernels(context, *shared, on, extents);
                    const int trajectories = context.quick ? 100 : on_cpu ? 500 : 5000;
                    for (const double beta : {5.7, 6.0}) quenched(context, on, {{8, 8, 8, 8}}, beta, trajectories);
                },
                context.space);
            shared->clear();
        }};
}

}  // namespace kasane::bench
