// sparse.multigrid: time to solution of the box by conjugate gradients with geometric multigrid and with smoothed aggregation, beside ICCG
// in the same run.
#include <bench/sparse/peers/amgcl.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace kasane::bench {

using namespace sparse;

namespace {

struct AggregationRow {
    BenchmarkResult row;
    double total_seconds;  ///< of set-up and solve
};

/// The first set-up in a process also waits for memory that the system gives, and on some virtual machines the host of the system, so its
/// seconds are listed beside the median of three more.
AggregationRow aggregation_row(const BenchmarkContext& context, const SparseProblem& problem, const MemorySpeed& speed, double geometric) {
    SolverOptions options;
    options.precondition = Precondition::multigrid;
    std::optional<Solver> solver;
    std::vector<double> setups;
    for (int repeat = 0; repeat < 4; ++repeat) {
        solver.reset();
        setups.push_back(solver.emplace(context.space, problem.matrix.view(), options).setup().total_seconds);
    }
    std::ranges::sort(setups.begin() + 1, setups.end());
    const auto measured = measure(*solver, problem);
    auto row = row_of("sparse.multigrid, aggregation" + threads_label(context.space), measured, speed);
    const double total = setups[2] + measured.solve.seconds;
    row.more.insert(row.more.end(), {{"first_setup_seconds", setups[0]},
                                     {"median_setup_seconds", setups[2]},
                                     {"total_seconds", total},
                                     {"times_geometric", row.seconds / geometric}});
    return {std::move(row), total};
}

void run_multigrid(const BenchmarkContext& context, SparseProblems& problems) {
    for (const auto side : sides_or(context, {64, 128}, {64, 128, 256, 384})) {
        const auto& problem = problems.box(side);
        PoissonProblem box;
        box.cells = {side, side, side};
        const auto& speed = problems.speed(context.space);
        PoissonSolver solver(context.space, box);
        std::vector<double> x(problem.rhs.size());
        SolveLog log;
        std::vector<double> seconds, iterations;
        for (int repeat = 0; repeat < 6; ++repeat) {
            std::ranges::fill(x, 0.);
            log = solver.solve(view(problem.rhs), view(x));
            if (repeat > 0) seconds.push_back(log.seconds), iterations.push_back(log.iteration_seconds);  // the first loads kernels
        }
        std::ranges::sort(seconds);
        std::ranges::sort(iterations);

        BenchmarkResult row;
        row.name = "sparse.multigrid, box" + threads_label(context.space);
        row.n = problem.rows();
        row.seconds = seconds[2];
        row.spread = (seconds.back() - seconds.front()) / seconds[2];
        const double each = iterations[2] / std::max(1, log.iterations);
        row.rate = multigrid_bytes(box, !std::holds_alternative<Cpu>(context.space)).all() / each;
        row.unit = "bytes/s";
        row.bound = speed.triad;
        row.bound_reason = "every array once in each pass of an iteration, at the triad's bandwidth";
        row.error = problem.error(x);
        row.more = {{"iterations", static_cast<double>(log.iterations)},
                    {"setup_seconds", solver.setup().seconds},
                    {"iteration_seconds", iterations[2]},
                    {"bytes_per_unknown", static_cast<double>(solver.setup().bytes) / static_cast<double>(problem.rows())}};
        context.report(row);

        const auto algebraic = aggregation_row(context, problem, speed, row.seconds);
        context.report(algebraic.row);

        if (const auto* cpu = std::get_if<Cpu>(&context.space))
            solve_with_amgcl({problem.matrix, problem.rhs, true}, *cpu, [&](const PeerSolve& peer) {
                auto theirs = absent("sparse.multigrid, peer " + peer.name + threads_label(context.space), problem.rows(), peer.failure);
                if (!peer.failure.empty()) return context.report(theirs);
                theirs.seconds = peer.solve_seconds;
                theirs.rate = peer.iterations / peer.solve_seconds;
                theirs.unit = "iterations/s";
                theirs.error = peer.true_residual;
                theirs.more = {{"iterations", peer.iterations},
                               {"setup_seconds", peer.setup_seconds},
                               {"times_ours", (peer.setup_seconds + peer.solve_seconds) / algebraic.total_seconds}};
                theirs.note = peer.version;
                context.report(theirs);
            });

        SolverOptions by_rule;
        by_rule.tune = sparse::Tuning::off;
        Solver iccg(context.space, problem.matrix.view(), by_rule);
        auto other = row_of("sparse.multigrid, ICCG by rule" + threads_label(context.space), measure(iccg, problem), speed);
        other.more.emplace_back("times_multigrid", other.seconds / row.seconds);
        context.report(other);
    }
}

}  // namespace

Benchmark sparse_multigrid(const SharedSparse& shared) {
    return {
        "sparse.multigrid",
        "The box of [HOHNI17] to 1e-8 by conjugate gradients with geometric multigrid (PoissonSolver), with smoothed aggregation from the "
        "matrix, and by ICCG with options chosen by rule. Times are of the solve, without the set-up; the error is the largest relative "
        "one over all cells against the exact "
        "solution. `times_multigrid` is the time of ICCG over that of multigrid. On a CPU AMGCL takes part where it was found when kasane "
        "was "
        "built: its error is the true residual, and `times_ours` its time with the set-up over that of our aggregation. "
        "`total_seconds` is that of the solve and of the median of three set-ups after the first one; `first_setup_seconds` and "
        "`setup_seconds` are of single ones, the first and the last. The bound is the triad of this run: caches exceed it where the grids "
        "fit.",
        [shared](const BenchmarkContext& context) { run_multigrid(context, *shared); }};
}

}  // namespace kasane::bench
