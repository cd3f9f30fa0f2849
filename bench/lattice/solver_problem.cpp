#include <bench/lattice/solver_problem.hpp>

#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

#include <algorithm>
#include <ctime>
#include <vector>

namespace kasane::bench {

using namespace lattice;

namespace {

struct Solved {
    SolveLog log;
    Timing timing;
    double setup_seconds = 0;
    double cpu_seconds = 0;  ///< of all threads: on a machine with other programs, the time that the solve takes alone
};

/// Solves from zero with everything on the space: the median of up to five. The first one is left out unless it takes longer than
/// `longest` seconds: then it is the only one.
template <Space S>
Solved solved(S on, const GaugeField& links, const DiracParameters& parameters, const SpinorField& source, const SolverOptions& options,
              double longest) {
    Solved result;
    check_memory(on, links.extents, parameters, options);
    Stopwatch watch;
    ResidentSolver<OneDevice<S>> solver(OneDevice<S>(on, links.extents), links, parameters, options);
    synchronize(on);
    result.setup_seconds = watch.seconds();
    ResidentField<S> b(solver.lattice), x(solver.lattice);
    for (const auto parity : {Parity::even, Parity::odd}) load(source, parity, parity == Parity::even ? b.even : b.odd);
    struct Run {
        double seconds, cpu_seconds;
        SolveLog log;
    };
    std::vector<Run> runs;
    double spent = 0;
    for (int repeat = 0; repeat < 6 && (repeat < 2 || spent < longest); ++repeat) {
        solver.zero(x);
        synchronize(on);
        watch = Stopwatch();
        const std::clock_t cpu = std::clock();
        auto log = solver.solve(b, x);
        synchronize(on);
        const double seconds = watch.seconds();
        spent += seconds;
        if (repeat == 1) runs.clear();  // the first solve is a warm-up
        runs.push_back({seconds, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC, std::move(log)});
        if (seconds > longest) break;
    }
    std::sort(runs.begin(), runs.end(), [](const auto& one, const auto& other) { return one.seconds < other.seconds; });
    auto& median = runs[runs.size() / 2];
    result.timing = {median.seconds, (runs.back().seconds - runs.front().seconds) / median.seconds};
    result.cpu_seconds = median.cpu_seconds;
    result.log = std::move(median.log);
    return result;
}

BenchmarkResult row_of(const std::string& name, const Extents& extents, const Solved& result, double base) {
    const auto& log = result.log;
    BenchmarkResult row;
    row.name = name;
    row.n = extents.volume();
    row.seconds = result.timing.seconds, row.spread = result.timing.spread;
    row.rate = 1e9 * log.gflops;
    row.unit = "flop/s";
    row.tflops = 1e-3 * log.gflops;
    row.error = log.true_residual;
    row.more = {
        {"iterations", log.iterations},          {"inner_iterations", log.inner_iterations}, {"gflops", log.gflops},
        {"setup_seconds", result.setup_seconds}, {"cpu_seconds", result.cpu_seconds},        {"L", static_cast<double>(extents[0])}};
    if (std::isfinite(base)) row.more.emplace_back("speedup", base / row.seconds);
    for (const auto& note : log.notes) row.note += (row.note.empty() ? "" : "; ") + note;
    if (!log.converged())
        row.note = std::string("NOT CONVERGED, ") + std::string(krylov::name(log.end)) + (row.note.empty() ? "" : ": ") + row.note;
    return row;
}

}  // namespace

SolverProblem::SolverProblem(std::string study, const GaugeField& links, const DiracParameters& parameters, double seconds)
    : study_(std::move(study)), seconds_(seconds), links_(links), parameters_(parameters), source_(random_source(links.extents, 2)) {}

BenchmarkResult SolverProblem::row(const AnySpace& on, const std::string& label, const Way& way, double base) {
    const auto name = study_ + ", " + label + way.name;
    try {
        if (way.options.inner_links.temporal_gauge && !fixed_) fix_gauge();
        const bool fixed = way.options.inner_links.temporal_gauge;
        const auto result = std::visit(
            [&](auto space) {
                return solved(space, fixed ? fixed_->links : links_, parameters_, fixed ? fixed_source_ : source_, way.options, seconds_);
            },
            on);
        return row_of(name, links_.extents, result, base);
    } catch (const Error& error) {
        return absent_hop(name, links_.extents, error.what());
    }
}

void SolverProblem::fix_gauge() {
    fixed_ = temporal_gauge(links_);
    fixed_source_ = rotated(source_, fixed_->g, false);
}

}  // namespace kasane::bench
