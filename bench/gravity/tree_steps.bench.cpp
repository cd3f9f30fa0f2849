// gravity.tree.steps: block steps against one step shared by all particles, over the same simulated time.
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/simulation.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double longest_step = 1. / 1024;  // [kpc s/km] 0.95 Myr: steps of GOTHIC's criterion lie 2 to 8 doublings below

double energy(const Simulation& sim) { return diagnose(sim.particles(), sim.potential(), sim.acceleration(), sim.time()).energy; }

/// A simulation from its start, with the time of its steps.
class Course {
   public:
    Course(const AnySpace& on, const TreeProblem& problem, const Tree& tree, const Steps& steps)
        : sim_(on, problem.particles, {.force = tree, .step = steps}), start_(energy(sim_)) {}

    void step() {
        const Stopwatch watch;
        sim_.step();
        seconds_ += watch.seconds();
    }
    const Simulation& sim() const { return sim_; }
    double seconds() const { return seconds_; }

    BenchmarkResult row(const std::string& name) const {
        const auto parts = sim_.timers().parts();  // read before the audit and the energy
        const auto counts = sim_.step_counts();
        const auto steps = static_cast<double>(counts.block_steps), n = static_cast<double>(sim_.size());
        const auto audit = sim_.audit(TreeProblems::audited);
        BenchmarkResult row;
        row.name = name;
        row.n = sim_.size();
        row.seconds = seconds_ / steps;
        row.rate = counts.updates / seconds_;
        row.unit = "updates/s";
        row.error = audit.p99;
        row.more = {{"block_steps", steps},
                    {"total_seconds", seconds_},
                    {"span", sim_.time()},
                    {"updates", counts.updates / steps},
                    {"rebuilds", static_cast<double>(counts.rebuilds)},
                    {"energy_error", std::abs(energy(sim_) / start_ - 1)},
                    {"median_error", audit.median},
                    {"p99_error", audit.p99}};
        for (const std::string part : {"walk", "moments", "tree", "step"})
            if (const auto at = parts.find(part); at != parts.end()) row.more.emplace_back(part + "_seconds", at->second.seconds / steps);
        for (std::size_t k = 0; k < counts.levels.size(); ++k)
            if (counts.levels[k] > 0) row.more.emplace_back(fmt::format("level_{}", k), static_cast<double>(counts.levels[k]) / n);
        return row;
    }

   private:
    Simulation sim_;
    double start_, seconds_ = 0;
};

void run_steps(const BenchmarkContext& context, TreeProblems& problems) {
    const bool on_cpu = std::holds_alternative<Cpu>(context.space);
    const int compared = on_cpu ? 1 : 4;  // number of longest steps
    const std::int64_t wanted = on_cpu ? 256 : 4096;
    for (const auto n : sizes_or(context, {1 << 14}, {1 << 23})) {
        const auto& problem = problems.get(context.space, TreeModel::m31, n);
        Tree tree{.mac = AccelerationMac{typical_delta}, .softening = problem.softening, .G = problem.G};
        const Steps blocks = BlockSteps{{.dt_max = longest_step}};
        double block_seconds = 0;
        {
            Course frozen(context.space, problem, tree, blocks);
            for (int k = 0; k < compared; ++k) frozen.step();
            context.report(frozen.row("gravity.tree.steps, block, frozen, the span of shared"));
        }
        tree.deterministic = false;
        {
            Course block(context.space, problem, tree, blocks);
            for (int k = 0; k < compared; ++k) block.step();
            block_seconds = block.seconds();
            context.report(block.row("gravity.tree.steps, block, the span of shared"));
            while (block.sim().step_counts().block_steps < wanted) block.step();
            context.report(block.row("gravity.tree.steps, block"));
        }
        Course shared(context.space, problem, tree, AdaptiveSteps{{.dt_max = longest_step}});
        for (int k = 0; k < compared; ++k) shared.step();
        auto row = shared.row("gravity.tree.steps, shared");
        row.more.emplace_back("block_over_shared", block_seconds / shared.seconds());
        context.report(row);
    }
}

}  // namespace

Benchmark tree_steps(const SharedProblems& problems) {
    return {
        "gravity.tree.steps",
        fmt::format("Block steps against shared ones: halo and bulge of M31, delta 2^-9, quadrupoles, eta 0.5, steps of 1/{:.0f} kpc s/km "
                    "divided by powers of two; tuned while running, but for the row `frozen`. The time is the mean of a block step, of "
                    "which a CUDA device makes 4096; the rate is particles advanced. `energy_error` is |E/E0 - 1|; `level_k` the share "
                    "of particles whose step is the longest over 2^k; `block_over_shared` the ratio of the times for one simulated "
                    "span. The error is the 99th percentile of 1000 particles against direct summation in double.",
                    1 / longest_step),
        [problems](const BenchmarkContext& context) { run_steps(context, *problems); }};
}

}  // namespace kasane::bench
