// gravity.tree.m31: the benchmark of [Miki21] section 4, time of a block step against the accuracy of the forces.
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/simulation.hpp>

#include <bench/gravity/galaxy_models.hpp>
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double m31_longest_step = 1. / 1024;  // [kpc s/km] 0.95 Myr
constexpr int finest_delta = 20;                // 2^-20

/// How long a row is measured.
struct M31Span {
    std::int64_t block_steps;    ///< enough
    double seconds;              ///< enough
    double longest_row_seconds;  ///< a row that is expected to take longer is left out
};

/// One run of a galaxy from its start: whole longest steps until there is enough of them.
BenchmarkResult m31_row(const AnySpace& on, const Particles& galaxy, const Tree& tree, int power, const M31Span& span) {
    const Stopwatch starting;
    Simulation sim(on, galaxy, {.force = tree, .step = BlockSteps{{.dt_max = m31_longest_step}}});
    sim.audit(1);  // computes the first forces, which are not part of the steps
    const double start_seconds = starting.seconds();
    const auto before = sim.timers().parts();
    double seconds = 0;
    do {
        const Stopwatch watch;
        sim.step();
        seconds += watch.seconds();
    } while (sim.step_counts().block_steps < span.block_steps && seconds < span.seconds);
    const auto after = sim.timers().parts();  // read before the audit
    const auto counts = sim.step_counts();
    const auto audit = sim.audit(TreeProblems::audited);
    const auto steps = static_cast<double>(counts.block_steps), n = static_cast<double>(sim.size());

    BenchmarkResult row;
    row.name = fmt::format("gravity.tree.m31, {}, delta 2^{}", name(tree.multipole), -power);
    row.n = sim.size();
    row.seconds = seconds / steps;
    row.rate = counts.updates / seconds;
    row.unit = "updates/s";
    row.error = audit.p99;
    row.more = {{"delta", std::ldexp(1., -power)},
                {"median_error", audit.median},
                {"p99_error", audit.p99},
                {"block_steps", steps},
                {"longest_steps", static_cast<double>(sim.steps())},
                {"total_seconds", seconds},
                {"start_seconds", start_seconds},
                {"updates", counts.updates / steps},
                {"rebuilds", static_cast<double>(counts.rebuilds)},
                {"softening", tree.softening},
                {"eta", BlockSteps{}.eta},
                {"dt_max", m31_longest_step},
                {"leaf_size", tree.leaf_size}};
    for (const std::string part : {"walk", "moments", "tree", "step"})
        if (const auto at = after.find(part); at != after.end()) {
            const auto first = before.find(part);
            const double spent = at->second.seconds - (first == before.end() ? 0 : first->second.seconds);
            row.more.emplace_back(part + "_seconds", spent / steps);
        }
    for (std::size_t k = 0; k < counts.levels.size(); ++k)
        if (counts.levels[k] > 0) row.more.emplace_back(fmt::format("level_{}", k), static_cast<double>(counts.levels[k]) / n);
    return row;
}

void run_m31(const BenchmarkContext& context) {
    const bool on_cpu = std::holds_alternative<Cpu>(context.space), quick = context.quick;
    const auto sizes = quick ? sizes_or(context, {1 << 11}, {1 << 17}) : sizes_or(context, {1 << 14}, {1 << 23});
    const M31Span span = quick ? M31Span{1, 0.1, 20} : on_cpu ? M31Span{64, 1, 20} : M31Span{4096, 1.5, 20};
    for (const auto n : sizes) {
        const auto model = m31_model(n);
        const auto galaxy = sample(model, Cpu{});
        struct Order {
            Multipole multipole;
            double last = 0, expected = 0;  ///< time of a longest step: of the last value, and expected of the next one [s]
        };
        Order orders[] = {{Multipole::monopole}, {Multipole::quadrupole}};
        for (int power = 0; power <= finest_delta; power += quick ? 5 : 1)  // coarse to fine: a run that is stopped lacks the slowest rows
            for (auto& [multipole, last, expected] : orders) {
                if (expected > span.longest_row_seconds) continue;
                const Tree tree{.mac = AccelerationMac{std::ldexp(1., -power)},
                                .softening = model.components.front().softening,
                                .G = model.G,
                                .multipole = multipole};
                const auto row = m31_row(context.space, galaxy, tree, power, span);
                context.report(row);
                const auto value = [&](const std::string& key) {
                    return std::find_if(row.more.begin(), row.more.end(), [&](const auto& entry) { return entry.first == key; })->second;
                };
                const double longest_step = value("total_seconds") / value("longest_steps");
                expected = last > 0 ? longest_step * std::max(1., longest_step / last) : longest_step;
                last = longest_step;
            }
    }
}

}  // namespace

Benchmark tree_m31() {
    return {"gravity.tree.m31",
            fmt::format(
                "The benchmark of [Miki21] section 4 (fig. 4): time of a block step against delta of the acceleration criterion, 2^0 to "
                "2^-{}, with monopoles, as in the paper, and with quadrupoles. The shipped model m31 with its disk, its softening of "
                "1/64 kpc, eta 0.5, steps of 1/{:.0f} kpc s/km (0.95 Myr) divided by powers of two, all other options as in runs "
                "(deterministic). The time is the mean of the block steps of whole longest steps from the start of the galaxy: as many "
                "as take 1.5 seconds on a CUDA device, 4096 block steps at most; a value whose longest step would take more than 20 s "
                "is left out. The rate is particles advanced. Errors are of 1000 particles at the end against direct summation in "
                "double; `error` is the 99th percentile. `start_seconds` is the set-up with the first forces, which the time leaves out; "
                "`level_k` is the share of particles whose step is the longest over 2^k.",
                finest_delta, 1 / m31_longest_step),
            run_m31};
}

}  // namespace kasane::bench
