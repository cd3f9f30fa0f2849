// sparse.solve: time to solution of the box, with automatic options and by named schemes.
#include <bench/sparse/device_csr.hpp>
#include <bench/sparse/sparse_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace kasane::bench {

using namespace sparse;

namespace {

std::vector<Scheme> schemes() {
    SolverOptions tuned;
    tuned.tune = sparse::Tuning::full;
    std::vector<Scheme> all{{"auto", {}}, {"all candidates timed", tuned}};
    all.push_back(scheme("cm-rcm:2", Iteration::reduced));
    all.push_back(scheme("cm-rcm:2", Iteration::eisenstat));
    all.push_back(scheme("cm-rcm:8", Iteration::eisenstat));
    all.push_back(scheme("cm-rcm:8", Iteration::plain));
    all.push_back(scheme("cm-rcm:8", Iteration::plain, "auto", true));
    all.push_back(scheme("natural", Iteration::plain));
    return all;
}

/// Solves with one scheme; where it cannot, because memory is short or it does not apply, the row states the reason.
void solve_row(const BenchmarkContext& context, SparseProblems& problems, const AnySpace& on, index_t side, const Scheme& scheme,
               double& alone) {
    const auto& problem = problems.box(side);
    const auto name = "sparse.solve, " + scheme.name + threads_label(on);
    try {
        Solver solver(on, problem.matrix.view(), scheme.options);
        const auto measured = measure(solver, problem);
        auto row = row_of(name, measured, problems.speed(on));
        if (scheme.name == "auto") problems.remember(on, side, row.seconds);
        if (const auto* cpu = std::get_if<Cpu>(&on); cpu && alone == 0) {
            alone = measured.iteration_seconds;
        } else if (cpu) {
            const double gain = alone / measured.iteration_seconds, triad = problems.speed(on).triad / problems.speed(Cpu{1}).triad;
            row.more.emplace_back("gain", gain);
            row.more.emplace_back("triad_gain", triad);
            row.more.emplace_back("gain_over_triad", gain / triad);
        }
        context.report(row);
    } catch (const Error& error) {
        context.report(absent(name, problem.rows(), error.what()));
    }
}

#if defined(KASANE_CUDA)
void device_rows(const BenchmarkContext& context, SparseProblems& problems, Cuda on, index_t side) {
    SolverOptions by_rule;
    by_rule.tune = sparse::Tuning::off;
    context.report(device_row(problems, on, side, "sparse.solve, from a device CSR, by rule", by_rule));
    SolverOptions multigrid;
    multigrid.precondition = Precondition::multigrid;
    context.report(device_row(problems, on, side, "sparse.solve, from a device CSR, multigrid", multigrid));
}
#endif

void run_solve(const BenchmarkContext& context, SparseProblems& problems) {
    for (const auto side : sides_or(context, {128}, {64, 128, 256})) {
        for (const auto& each : schemes()) {
            double alone = 0;
            for (const auto& on : with_threads(context.space)) solve_row(context, problems, on, side, each, alone);
        }
#if defined(KASANE_CUDA)
        if (const auto* on = std::get_if<Cuda>(&context.space)) device_rows(context, problems, *on, side);
#endif
    }
}

}  // namespace

Benchmark sparse_solve(const SharedSparse& shared) {
    return {
        "sparse.solve",
        "Time to solution of the box of [HOHNI17]: `--n` unit cells along an edge, source i + j + k, from x = 0 to a residual of 1e-8, "
        "with "
        "everything left to `auto` (the default: by rule), with all candidates timed first, and with named schemes (everything else by "
        "rule). "
        "Seconds are those of a solve "
        "from host vectors to host vectors, the median of up to five; `iteration_seconds` are the iterations alone; `setup_seconds` and "
        "its parts come on top. `from a device CSR`: matrix and vectors in device memory, everything by rule or with smoothed aggregation, "
        "seconds count set-up "
        "and solve. The rate is "
        "bytes per iteration (every array once per phase) times iterations over `iteration_seconds`, the bound the triad of this run: "
        "caches exceed it where the box fits. "
        "On a CPU with one thread and with all: `gain_over_triad` is the gain over one thread divided by the triad's. The error is "
        "the largest relative one of all cells against a direct solution by cosines and elimination; `memory_per_row` are bytes that the "
        "solver holds per cell.",
        [shared](const BenchmarkContext& context) { run_solve(context, *shared); }};
}

}  // namespace kasane::bench
