// gravity.tree.scaling: steps of the tree code on the workers of this run, the devices of one process or of several ranks.
// gravity.tree.large: steps of as many particles as the workers can hold, and their memory.
#include <bench/bench_workers.hpp>
#include <bench/gravity/tree_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/memory_use.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double softening = 1. / 64;
constexpr double plummer_radius = 0.58904862254808623221;  // 3 pi / 16: standard N-body units
constexpr double dt_shared = 1. / 256, dt_longest = 1. / 16;

struct Method {
    const char* name;
    Steps steps;
    std::int64_t timed;  ///< macro steps
};

std::vector<Method> methods(bool quick) {
    BlockSteps blocks;
    blocks.dt_max = dt_longest;
    return {{"all", Leapfrog{dt_shared}, quick ? 2 : 8}, {"block", blocks, quick ? 1 : 2}};
}

class TreeScalingStudy {
   public:
    explicit TreeScalingStudy(const BenchmarkContext& context) : context_(context), workers_(context) {
        each_ = context.sizes;
        if (each_.empty()) each_ = {workers_.on_cpu ? (context.quick ? 4096 : 32768) : (context.quick ? 262144 : 4194304)};
    }

    void run() {
        workers_.for_each_set([&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            for (const auto n : sizes(communicator.size()))
                for (const auto& method : methods(context_.quick)) measure(communicator, here, n, method);
        });
    }

   private:
    /// Numbers of particles: each_ for every worker, and the number that the largest set of workers has then.
    std::vector<index_t> sizes(int workers) const {
        std::set<index_t> found;
        for (const auto each : each_) found.insert({each * workers, each * workers_.sets.back().size()});
        return {found.begin(), found.end()};
    }

    void measure(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, index_t n, const Method& method) {
        if (!workers_.leads()) return worker_loop(communicator, here);
        const int workers = communicator.size();
        const Tree tree{.softening = softening};
        auto sim = distributed_simulation(communicator, here, plummer({.count = n, .seed = 1}), {.force = tree, .step = method.steps});
        sim.step(1);  // first force, first tree, and growth of memory
        const auto before = sim.step_counts();
        const auto parts_before = sim.timers().parts();
        const Stopwatch watch;
        sim.step(method.timed);
        const double seconds = watch.seconds();
        const auto after = sim.step_counts();
        const auto steps = static_cast<double>(after.block_steps - before.block_steps);
        BenchmarkResult row;
        row.name = fmt::format("gravity.tree.scaling, {}, P {}", method.name, workers);
        row.n = n;
        row.seconds = seconds / steps;
        row.rate = (after.updates - before.updates) / seconds;
        row.unit = "particles/s";
        const auto audit = sim.audit(1000);
        row.error = audit.p99;
        const auto loads = worker_loads(sim);
        double received = 0;
        for (const auto& load : loads) received = std::max(received, static_cast<double>(load.received));
        row.more = {{"members", workers},
                    {"block_steps", steps},
                    {"updates", (after.updates - before.updates) / steps / static_cast<double>(n)},
                    {"imbalance", imbalance(loads)},
                    {"received_bytes", received},
                    {"median_error", audit.median}};
        const auto parts = sim.timers().parts();
        for (const char* part : {"walk", "moments", "tree", "domains", "lets", "messages", "step"}) {
            const auto now = parts.find(part), then = parts_before.find(part);
            if (now == parts.end()) continue;
            row.more.emplace_back(std::string(part) + "_seconds",
                                  (now->second.seconds - (then == parts_before.end() ? 0 : then->second.seconds)) / steps);
        }
        row.more.emplace_back("trees", static_cast<double>(after.rebuilds - before.rebuilds));
        if (workers > 1)
            row.more.emplace_back("divisions", static_cast<double>(parts.at("domains").calls - parts_before.at("domains").calls));
        seconds_[{method.name, workers, n}] = row.seconds;
        // The efficiencies compare with one worker that has N particles, and with one that has N / P.
        if (const auto one = seconds_.find({method.name, 1, n}); workers > 1 && one != seconds_.end())
            row.more.emplace_back("strong", one->second / (workers * row.seconds));
        if (const auto one = seconds_.find({method.name, 1, n / workers}); workers > 1 && one != seconds_.end())
            row.more.emplace_back("weak", one->second / row.seconds);
        row.note = shared_;
        context_.report(row);
    }

    const BenchmarkContext& context_;
    BenchWorkers workers_;
    std::string shared_ = shared_note(workers_.ranks, workers_.here);
    std::vector<index_t> each_;
    std::map<std::tuple<std::string, int, index_t>, double> seconds_;
};

/// Number of a device; of the CPU one that no device has.
int device_number([[maybe_unused]] const AnySpace& space) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&space)) return cuda->device;
#endif
    return -1;
}

/// Steps on all workers, and the memory of the fullest device of this rank.
void run_large(const BenchmarkContext& context) {
    const BenchWorkers workers(context);
    comm::WorkerCommunicator communicator(workers.ranks, workers.sets.back().workers);
    for (const auto n : sizes_or(context, {index_t{1} << 18}, {index_t{1} << 28})) {
        if (!workers.leads()) {
            worker_loop(communicator, workers.here);
            continue;
        }
        const Tree tree{.softening = softening};
        const Stopwatch drawing;
        auto particles = sample(Component{.law = Plummer{}, .mass = 1, .scale = plummer_radius, .count = n}, 1, 1, workers.here.front());
        const double drawn = drawing.seconds();
        std::vector<std::int64_t> free;
        for (const auto& space : workers.here) {
            free.push_back(static_cast<std::int64_t>(available_memory(space)));
            forget_most_memory(device_number(space));
        }
        const Stopwatch sending;
        auto sim = distributed_simulation(communicator, workers.here, std::move(particles), {.force = tree, .step = Leapfrog{dt_shared}});
        const double sent = sending.seconds();
        const Stopwatch beginning;
        sim.step(1);
        const double begun = beginning.seconds();
        constexpr int steps = 2;
        const Stopwatch watch;
        sim.step(steps);
        BenchmarkResult row;
        row.seconds = watch.seconds() / steps;
        double used = 0;
        for (std::size_t k = 0; k < free.size(); ++k)
            used = std::max(used, static_cast<double>(free[k] - static_cast<std::int64_t>(available_memory(workers.here[k]))));
        double most = 0, predicted = 0;
        for (const auto& space : workers.here) most = std::max(most, static_cast<double>(memory_use(device_number(space)).most));
        for (int w = 0; w < communicator.size(); ++w) {
            const auto memory = worker_memory(workers.here.front(), n, tree, {}, communicator.size(), w, communicator.workers_per_rank(),
                                              workers.ranks.size() > 1);
            predicted = std::max(predicted, static_cast<double>(workers.on_cpu ? memory.host_bytes : memory.device_bytes));
        }
        const auto audit = sim.audit(200);
        row.name = fmt::format("gravity.tree.large, P {}", communicator.size());
        row.n = n;
        row.rate = static_cast<double>(n) / row.seconds;
        row.unit = "particles/s";
        row.error = audit.p99;
        const auto loads = worker_loads(sim);
        double received = 0;
        for (const auto& load : loads) received = std::max(received, static_cast<double>(load.received));
        row.more = {{"median_error", audit.median}, {"predicted_bytes", predicted}, {"used_bytes", used},
                    {"most_bytes", most},           {"received_bytes", received},   {"imbalance", imbalance(loads)},
                    {"sample_seconds", drawn},      {"send_seconds", sent},         {"first_seconds", begun}};
        row.note = shared_note(workers.ranks, workers.here);
        context.report(row);
    }
}

}  // namespace

Benchmark tree_large() {
    return {
        "gravity.tree.large",
        fmt::format(
            "A Plummer sphere of N particles, softening {}, default criterion, constant steps, on all workers. `seconds` is one step "
            "of all particles after the first. `predicted_bytes` is the memory of the fullest worker as `kasane check` computes it, "
            "`used_bytes` what the memory of its device has lost at the end, `most_bytes` the most that buffers on a device had at any "
            "time. `sample_seconds` is the time in which one worker "
            "draws all particles, `send_seconds` that in which all workers receive theirs, `first_seconds` that of the first step, with "
            "the division into domains and two forces. The error is the 99th percentile of "
            "200 particles against direct summation in double.",
            softening),
        run_large, true};
}

Benchmark tree_scaling() {
    return {
        "gravity.tree.scaling",
        fmt::format(
            "Steps of a Plummer sphere, softening {}, default criterion, on P workers, a device or a share of the CPU each. `all`: one "
            "constant step for all particles; `block`: block steps, the mean of all in the longest steps. `--n` is the number of "
            "particles for each worker; N is P times it, and that of the largest P. `seconds` is one whole step (prediction, trees, LETs, "
            "walk, correction, reports), after one longest step that is not timed. `strong` = t(N; 1) / (P t(N; P)), `weak` = "
            "t(N / P; 1) / t(N; P). The parts are those of the first worker: `lets` is boxes, selection, packing and merging, `messages` "
            "the time in which the worker "
            "waits for LETs that its walk does not hide, `domains` the choice of domains and the exchange of particles. `divisions` is how "
            "often "
            "domains were chosen in the timed steps, `trees` how often trees were built. "
            "`imbalance` is the largest work of a worker over the mean, `received_bytes` the largest LETs of the last force. The error "
            "is the 99th percentile of 1000 particles against direct summation in double.",
            softening),
        [](const BenchmarkContext& context) { TreeScalingStudy(context).run(); }, true};
}

}  // namespace kasane::bench
