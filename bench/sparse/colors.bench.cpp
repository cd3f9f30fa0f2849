// sparse.colors: figure 8 and table 3 of [HOHNI17]: time to solution against the number of colours, for each numbering and format.
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/perf/simd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kasane::bench {

using namespace sparse;

namespace {

struct Case {
    const char* name;
    Numbering numbering;
    const char* format;  ///< "sell": with the C of this device
    Iteration iteration;
};

/// Table 2 of the paper, and later cases.
constexpr std::array cases{Case{"c-CRS", Numbering::coalesced, "csr", Iteration::plain},
                           Case{"c-Sliced-ELL", Numbering::coalesced, "sliced-ell", Iteration::plain},
                           Case{"c-SELL", Numbering::coalesced, "sell", Iteration::plain},
                           Case{"s-CRS", Numbering::sequential, "csr", Iteration::plain},
                           Case{"s-Sliced-ELL", Numbering::sequential, "sliced-ell", Iteration::plain},
                           Case{"s-SELL", Numbering::sequential, "sell", Iteration::plain},
                           Case{"Eisenstat, c-SELL", Numbering::coalesced, "sell", Iteration::eisenstat}};

/// C of the paper: the vector's lanes on a CPU, 64 on the P100.
int chunk_of(const AnySpace& on) {
    if (!std::holds_alternative<Cpu>(on)) return 64;
    return simd_target().starts_with("AVX3") ? 8 : 4;
}

SolverOptions options_of(const Case& each, int colors, int chunk) {
    SolverOptions options;
    options.ordering = {OrderingKind::cm_rcm, colors, 0};
    options.numbering = each.numbering;
    options.format = std::string_view(each.format) == "sell" ? Format{FormatKind::sell, chunk, 1} : Format::parse(each.format);
    options.iteration = each.iteration;
    options.tune = Tuning::off;
    return options;
}

/// The best seconds so far, and the row that they belong to.
struct Fastest {
    double seconds = std::numeric_limits<double>::infinity();
    std::string label;
    void take(const BenchmarkResult& row) {
        if (row.seconds < seconds) seconds = row.seconds, label = row.name.substr(row.name.find(", ") + 2);
    }
};

/// Table 3: speed and bandwidth over those of the paper's Broadwell, and their ratio.
BenchmarkResult table_3(const std::string& name, const Fastest& fastest, index_t rows, double bandwidth) {
    constexpr double broadwell_seconds = 3.102, broadwell_bandwidth = 65.5e9;
    BenchmarkResult row;
    row.name = "sparse.colors, table 3, " + name;
    row.n = rows;
    row.seconds = fastest.seconds;
    row.rate = 1 / fastest.seconds;
    row.unit = "solves/s";
    const double speed = broadwell_seconds / fastest.seconds, relative = bandwidth / broadwell_bandwidth;
    row.more = {
        {"bandwidth", bandwidth}, {"relative_speed", speed}, {"relative_bandwidth", relative}, {"speed_over_bandwidth", speed / relative}};
    row.note = fastest.label;
    return row;
}

void run_colors(const BenchmarkContext& context, SparseProblems& problems) {
    const auto& on = context.space;
    const int chunk = chunk_of(on);
    for (const auto side : sides_or(context, {128}, {128})) {
        const auto& problem = problems.box(side);
        const auto& speed = problems.speed(on);
        Fastest paper, all;
        for (int k = 2; k <= 20; ++k) {
            // One solve to the end gives the number of iterations, which depends on the order alone.
            int iterations = 0;
            const auto report = [&](const Case& each, bool to_the_end) {
                Solver solver(on, problem.matrix.view(), options_of(each, k, chunk));
                Measured measured;
                if (to_the_end) {
                    measured = measure(solver, problem);
                    iterations = measured.log.iterations;
                } else {
                    measured.setup = solver.setup();
                    measured.log.iterations = iterations;
                    measured.log.end = krylov::Outcome::converged;
                    measured.log.true_residual = measured.error = std::nan("");
                    measured.iteration_seconds = measured.solve.seconds = iterations * seconds_per_iteration(solver, problem.rhs);
                }
                auto row = row_of(fmt::format("sparse.colors, {}, k {}", each.name, k), measured, speed);
                row.seconds = measured.iteration_seconds;
                row.more.insert(row.more.begin(), {"k", k});
                if (each.iteration == Iteration::plain) paper.take(row);
                all.take(row);
                context.report(row);
            };
            report(cases.back(), true);
            for (const auto& each : cases)
                if (each.iteration == Iteration::plain) report(each, false);
            if (k == 2) report({"reduced, c-SELL", Numbering::coalesced, "sell", Iteration::reduced}, true);
        }
        if (side != 128) continue;  // the paper's size
        context.report(table_3("plain iteration", paper, problem.rows(), speed.triad));
        context.report(table_3("fastest", all, problem.rows(), speed.triad));
    }
}

}  // namespace

Benchmark sparse_colors(const SharedSparse& shared) {
    return {
        "sparse.colors",
        "Figure 8 and table 3 of [HOHNI17]: time of the iterations to 1e-8 against the k of CM-RCM(k), for the paper's six cases (`c-` "
        "coalesced, `s-` sequential numbering; SELL-C-1 with C the vector's lanes on a CPU, 64 on a device) with the plain iteration, and "
        "for Eisenstat's and the reduced iteration. For each k one solve runs to the end and gives the number of iterations and the "
        "error; the other cases are timed over 30 iterations. The bound is the triad of this run: caches exceed it where the box fits. "
        "`table 3`: the fastest time, speed and triad bandwidth over those of the "
        "paper's Broadwell (3.102 s, 65.5 GB/s), and their ratio, at 128^3 alone. The paper does not print its source, tolerance and "
        "iterations, so "
        "that its times compare by order of magnitude and by shape.",
        [shared](const BenchmarkContext& context) { run_colors(context, *shared); }};
}

}  // namespace kasane::bench
