// sparse.multigrid.device: set-up and solve of the box by multigrid where matrix and vectors are in the memory of a device.
#include <bench/sparse/device_csr.hpp>
#include <kasane/sparse/poisson_solver.hpp>

namespace kasane::bench {

using namespace sparse;

namespace {

#if defined(KASANE_CUDA)
/// Geometric multigrid from the matrix.
BenchmarkResult box_row(SparseProblems& problems, Cuda on, index_t side) {
    const auto& problem = problems.box(side);
    const auto& speed = problems.speed(on);
    PoissonProblem box;
    box.cells = {side, side, side};
    DeviceCsr A(on, problem);
    const auto runs = device_runs(on, A, [&] { return PoissonSolver::of_matrix(on, A.view(), box.cells); });
    const auto& median = runs[runs.size() / 2];
    BenchmarkResult row;
    row.name = "sparse.multigrid.device, box";
    row.n = problem.rows();
    row.seconds = median.total;
    row.spread = (runs.back().total - runs.front().total) / median.total;
    row.rate = multigrid_bytes(box) * median.log.iterations / median.log.iteration_seconds;
    row.unit = "bytes/s";
    row.bound = speed.triad;
    row.bound_reason = words(speed);
    row.error = problem.error(to_host(A.x));
    row.more = {{"iterations", static_cast<double>(median.log.iterations)},
                {"iteration_seconds", median.log.iteration_seconds},
                {"whole_setup_seconds", median.setup_seconds},
                {"solve_seconds", median.log.seconds},
                {"true_residual", median.log.true_residual},
                {"bytes_per_iteration", multigrid_bytes(box)},
                {"memory_per_row", static_cast<double>(median.setup.bytes) / static_cast<double>(problem.rows())}};
    return row;
}
#endif

void run_on_device(const BenchmarkContext& context, SparseProblems& problems) {
#if defined(KASANE_CUDA)
    const auto* on = std::get_if<Cuda>(&context.space);
    if (!on) return;
    for (const auto side : sides_or(context, {}, {64, 128, 256})) {
        context.report(box_row(problems, *on, side));
        SolverOptions aggregation;
        aggregation.precondition = Precondition::multigrid;
        context.report(device_row(problems, *on, side, "sparse.multigrid.device, aggregation", aggregation));
    }
#else
    static_cast<void>(context), static_cast<void>(problems);
#endif
}

}  // namespace

Benchmark sparse_multigrid_device(const SharedSparse& shared) {
    return {
        "sparse.multigrid.device",
        "The box of [HOHNI17] to 1e-8 by geometric multigrid (PoissonSolver::of_matrix) and by smoothed aggregation (Solver::on_device), "
        "with matrix (CSR, 32-bit indices) and vectors in the memory of a device. Seconds count "
        "set-up and solve, the median of five after one that loads the kernels. The rate is the bytes of an iteration (every array once in "
        "each pass) times iterations over `iteration_seconds`, the bound the triad of this run; the error is the largest relative one over "
        "all cells against the exact solution.",
        [shared](const BenchmarkContext& context) { run_on_device(context, *shared); }};
}

}  // namespace kasane::bench
