// sparse.multigrid: time to solution of the box by conjugate gradients with geometric multigrid and with smoothed aggregation, beside ICCG
// in the same run.
#include <bench/sparse/peers/amgcl.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::bench {

using namespace sparse;

namespace {

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

        SolverOptions aggregation;
        aggregation.precondition = Precondition::multigrid;
        Solver any_matrix(context.space, problem.matrix.view(), aggregation);
        auto algebraic = row_of("sparse.multigrid, aggregation" + threads_label(context.space), measure(any_matrix, problem), speed);
        algebraic.more.emplace_back("times_geometric", algebraic.seconds / row.seconds);
        context.report(algebraic);

        if (const auto* cpu = std::get_if<Cpu>(&context.space))
            solve_with_amgcl({problem.matrix, problem.rhs, true}, *cpu, [&](const PeerSolve& peer) {
                auto theirs = absent("sparse.multigrid, peer " + peer.name + threads_label(context.space), problem.rows(), peer.failure);
                if (!peer.failure.empty()) return context.report(theirs);
                theirs.seconds = peer.solve_seconds;
                theirs.rate = peer.iterations / peer.solve_seconds;
                theirs.unit = "iterations/s";
                theirs.error = peer.true_residual;
                const double ours = algebraic.seconds + any_matrix.setup().total_seconds;
                theirs.more = {{"iterations", peer.iterations},
                               {"setup_seconds", peer.setup_seconds},
                               {"times_ours", (peer.setup_seconds + peer.solve_seconds) / ours}};
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
        "built: its error is the true residual, and `times_ours` its time with the set-up over that of our aggregation.",
        [shared](const BenchmarkContext& context) { run_multigrid(context, *shared); }};
}

}  // namespace kasane::bench
