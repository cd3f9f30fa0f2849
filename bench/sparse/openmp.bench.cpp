// sparse.openmp: figures 13 and 14 and table 4 of [HOHNI17], the structures of OpenMP around an iteration of ICCG.
#include <bench/sparse/openmp_structures.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/binding.hpp>
#include <kasane/sparse/iterate/threads.hpp>
#include <kasane/sparse/order/orders.hpp>
#include <kasane/sparse/prepared_system.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace kasane::bench {

using namespace sparse;

namespace {

constexpr int least_runs = 2, most_runs = 5;
constexpr double seconds_of_a_step = 8;  ///< of a ladder, about

PreparedSystem<Cpu> system_of_box(Cpu on, const SparseProblem& problem, const ColoredOrder& order, Numbering numbering) {
    SolverOptions options;
    options.numbering = numbering;
    options.format = Format::parse("csr");
    options.iteration = Iteration::plain;
    PartTimes times;
    return prepare_system(on, problem.matrix.view(), {to_space(on, order.row), order.color_begin, order.steps}, options, times);
}

/// 1, 2, 4, ... threads and all of them.
std::vector<int> ladder(int all) {
    std::vector<int> threads;
    for (int t = 1; t < all; t *= 2) threads.push_back(t);
    threads.push_back(all);
    return threads;
}

/// b = 1 and x = 0 in new numbers.
void begin_again(PreparedSystem<Cpu>& of) {
    for (index_t i = 0; i < of.system.layout.padded; ++i) {
        of.vectors.x.data()[i] = 0;
        of.vectors.b.data()[i] = of.system.layout.old_row.data()[i] < 0 ? 0 : of.system.scale.data()[i];
    }
}

struct Way {
    std::string name;
    std::function<OpenMpRun(PreparedSystem<Cpu>&, const IterationTask&)> run;
};

std::vector<Way> ways() {
    const auto by = [](OpenMpStructure structure) {
        return [structure](PreparedSystem<Cpu>& of, const IterationTask& task) {
            return run_structure(structure, of.system, of.vectors, task);
        };
    };
    const auto own = [](PreparedSystem<Cpu>& of, const IterationTask& task) {
        const auto log = run_on_threads(of.system, of.vectors, task, CsrWork(of.system));
        const auto cost = cost_of(of.system, Iteration::plain);
        return OpenMpRun{log.seconds, log.iterations, {.barriers = cost.barriers}};
    };
    const auto vectors = [](PreparedSystem<Cpu>& of, const IterationTask& task) {
        const auto log = iterate(of.system, of.vectors, task);
        return OpenMpRun{log.seconds, log.iterations, {.barriers = cost_of(of.system, Iteration::plain).barriers}};
    };
    return {{"(1) a region for every loop", by(OpenMpStructure::loops)},
            {"(2) two regions for an iteration", by(OpenMpStructure::regions)},
            {"(4) one region", by(OpenMpStructure::one_region)},
            {"(5) loops by hand", by(OpenMpStructure::loops_by_hand)},
            {"(6) sums by hand", by(OpenMpStructure::sums_by_hand)},
            {"kasane, parts that idle threads take", own},
            {"kasane, with its kernels", vectors}};
}

/// @param alone  seconds of an iteration of each way with one thread; filled by the first step of a ladder
void run_box(const BenchmarkContext& context, SparseProblems& problems, Cpu on, const SparseProblem& problem, const std::string& label,
             PreparedSystem<Cpu> prepared, std::vector<double>& alone) {
    IterationTask task;
    task.limit = problem.rows() > 1'000'000 ? 10 : 30;
    const auto all = ways();
    std::vector<double> best(all.size(), INFINITY), worst(all.size(), 0.), error(all.size(), 0.);
    std::vector<OpenMpRun> last(all.size());
    std::vector<double> reference;
    const Stopwatch watch;
    // In turns, so that other programs of the machine disturb all alike.
    for (int run = 0; run < most_runs && (run < least_runs || watch.seconds() < seconds_of_a_step); ++run)
        for (std::size_t k = all.size(); k-- > 0;) {
            begin_again(prepared);
            last[k] = all[k].run(prepared, task);
            best[k] = std::min(best[k], last[k].seconds / last[k].iterations);
            worst[k] = std::max(worst[k], last[k].seconds / last[k].iterations);
            const auto x = to_host(prepared.vectors.x);
            if (reference.empty()) reference = x;
            for (std::size_t i = 0; i < x.size(); ++i)
                error[k] = std::max(error[k], std::fabs(x[i] - reference[i]) / std::fabs(reference[i] + (reference[i] == 0)));
        }
    if (alone.empty() && thread_count(on) == 1) alone = best;
    const auto& speed = problems.speed(on);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto& c = last[k].constructs;
        BenchmarkResult row;
        row.name = fmt::format("sparse.openmp, {}, {}{}", label, all[k].name, threads_label(on));
        row.n = problem.rows();
        row.seconds = best[k];
        row.spread = (worst[k] - best[k]) / best[k];
        row.rate = cost_of(prepared.system, Iteration::plain).bytes / best[k];
        row.unit = "bytes/s";
        row.bound = speed.triad;
        row.bound_reason = words(speed);
        row.error = error[k];
        row.more = {{"threads", thread_count(on)},
                    {"over_first", best[k] / best[0]},
                    {"gain", alone.empty() ? NAN : alone[k] / best[k]},
                    {"triad_gain", alone.empty() ? NAN : speed.triad / problems.speed(Cpu{1}).triad},
                    {"parallel_for", c.parallel_for},
                    {"parallel", c.parallel},
                    {"for", c.shared_for},
                    {"reduction", c.reduction},
                    {"barriers", c.barriers},
                    {"implicit_barriers", c.implicit_barriers},
                    {"colors", prepared.system.layout.colors}};
        row.note = words(thread_binding());
        context.report(row);
    }
}

}  // namespace

Benchmark sparse_openmp(const SharedSparse& shared) {
    return {
        "sparse.openmp",
        "Figures 13 and 14 and table 4 of [HOHNI17]: an iteration of ICCG (plain, compressed rows, 12 colours, the best of two to five "
        "runs in turns) with the structures of OpenMP that the paper tries one after the other, its numbers in brackets, in both "
        "numberings, with 1, 2, 4, ... threads and all (`--quick`: all), each beside the triad of as many threads; two colours with all "
        "threads. `gain` is over one thread, `triad_gain` the triad's; constructs are those that a thread meets in an iteration. The "
        "phases of kasane are fewer loops than the paper's, so that its `nowait` (3) saves nothing. The last two rows are kasane's own "
        "structure, one region with sums by hand in which idle threads take parts of other threads, with the same loops and with its "
        "kernels. "
        "The error is the largest relative difference of x from that of kasane's kernels. The bound is the triad of this run: caches "
        "exceed it where the box fits. `--n`: cells along an edge.",
        [shared](const BenchmarkContext& context) {
            const auto* cpu = std::get_if<Cpu>(&context.space);
            if (!cpu) return context.report(absent("sparse.openmp", 0, "is for CPUs: --device cpu"));
            const int all = thread_count(*cpu);
            for (const auto side : sides_or(context, {32, 128}, {128})) {
                const auto& problem = shared->box(side);
                for (const std::string ordering : {"cm-rcm:12", "cm-rcm:2"}) {
                    const auto order = order_rows(problem.matrix.view(), Ordering::parse(ordering));
                    const bool climbs = ordering == "cm-rcm:12" && !context.quick;
                    for (const auto numbering : {Numbering::coalesced, Numbering::sequential}) {
                        std::vector<double> alone;
                        for (const int threads : climbs ? ladder(all) : std::vector{all}) {
                            const Cpu on{threads};
                            run_box(context, *shared, on, problem, ordering + ", " + name(numbering),
                                    system_of_box(on, problem, order, numbering), alone);
                        }
                    }
                }
            }
        }};
}

}  // namespace kasane::bench
