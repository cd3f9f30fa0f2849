// sparse.multigrid.device: set-up and solve of the box by multigrid where matrix and vectors are in the memory of a device.
#include <bench/sparse/device_csr.hpp>

namespace kasane::bench {

using namespace sparse;

namespace {

void run_on_device(const BenchmarkContext& context, SparseProblems& problems) {
#if defined(KASANE_CUDA)
    const auto* on = std::get_if<Cuda>(&context.space);
    if (!on) return;
    for (const auto side : sides_or(context, {}, {64, 128, 256})) {
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
        "The box of [HOHNI17] to 1e-8 by multigrid with matrix (CSR, 32-bit indices) and vectors in the memory of a device. Seconds count "
        "set-up and solve, the median of five after one that loads the kernels. The rate is the bytes of an iteration (every array once in "
        "each pass) times iterations over `iteration_seconds`, the bound the triad of this run; the error is the largest relative one over "
        "all cells against the exact solution.",
        [shared](const BenchmarkContext& context) { run_on_device(context, *shared); }};
}

}  // namespace kasane::bench
