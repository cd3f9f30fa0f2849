// sparse.multigrid.device: set-up and solve of the box by multigrid where matrix and vectors are in the memory of a device.
#include <bench/sparse/device_csr.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <algorithm>
#include <array>

namespace kasane::bench {

using namespace sparse;

namespace {

#if defined(KASANE_CUDA)
/// Seconds of a cycle on all grids but the finest of a cube.
double coarse_seconds(Cuda on, index_t side) {
    PoissonProblem half;
    half.cells.fill((side + 1) / 2);
    BoxCells cells;
    std::array<Buffer<float, Cuda>, 3> faces;
    for (int d = 0; d < 3; ++d) {
        cells.n[d] = static_cast<int>(half.cells[0]);
        const auto exact = face_conductances(half, d);
        faces[static_cast<std::size_t>(d)] = to_space(on, std::vector<float>(exact.begin(), exact.end()));
    }
    const BoxCycle<Cuda> cycle(on, cells, std::move(faces));
    const std::vector<float> ones(static_cast<std::size_t>(cells.count()), 1.f);
    copy_from_host(on, cycle.b(), view(ones));
    constexpr int cycles = 20;
    std::vector<double> seconds;
    for (int repeat = 0; repeat < 6; ++repeat) {
        synchronize(on);
        const Stopwatch watch;
        for (int k = 0; k < cycles; ++k) cycle.apply();
        synchronize(on);
        if (repeat > 0) seconds.push_back(watch.seconds() / cycles);
    }
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
}

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
    const auto bytes = multigrid_bytes(box, true);
    const double coarse = coarse_seconds(on, side), each = median.log.iteration_seconds / median.log.iterations;
    row.rate = bytes.all() * median.log.iterations / median.log.iteration_seconds;
    row.unit = "bytes/s";
    row.bound = speed.triad;
    row.bound_reason = words(speed);
    row.error = problem.error(to_host(A.x));
    row.more = {{"iterations", static_cast<double>(median.log.iterations)},
                {"iteration_seconds", median.log.iteration_seconds},
                {"whole_setup_seconds", median.setup_seconds},
                {"solve_seconds", median.log.seconds},
                {"true_residual", median.log.true_residual},
                {"bytes_per_iteration", bytes.all()},
                {"coarse_seconds", coarse},
                {"of_bound_on_finest", bytes.finest / (each - coarse) / speed.triad},
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
        "each pass) times iterations over `iteration_seconds`, the bound the triad of this run: caches exceed it where the grids fit. "
        "`coarse_seconds` is the part of an "
        "iteration "
        "of geometric multigrid on all grids but the finest, measured alone, and `of_bound_on_finest` the bytes of the rest over the time "
        "of the rest and the triad. The error is the largest relative one over all cells against the exact solution.",
        [shared](const BenchmarkContext& context) { run_on_device(context, *shared); }};
}

}  // namespace kasane::bench
