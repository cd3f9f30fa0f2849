// sparse.blocks: elasticity in scalar rows and in rows of dense blocks.
#include <bench/sparse/matrices/matrices.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kasane::bench {

using namespace sparse;

namespace {

void run_blocks(const BenchmarkContext& context) {
    Speeds speeds;
    const auto& speed = speeds.of(context.space);
    for (const index_t size : sides_or(context, {100'000, 400'000}, {1'000'000}))
        for (const auto& kind : test_matrices()) {
            if (kind.name.find("elasticity") == std::string::npos) continue;
            const CsrMatrix A = kind.make(size);
            RandomStream random(1, 0);
            std::vector<double> b(static_cast<std::size_t>(A.rows()));
            for (auto& one : b) one = 2 * random.uniform() - 1;
            double scalar = NAN;
            const int fits = block_that_fits(A.view());
            struct Case {
                Precondition precondition;
                int block;
                const char* ordering;
            };
            // Blocks are compared with scalar rows in the order of the rule, and in the natural order, which automatic blocks take on a
            // CPU.
            for (const auto& [precondition, block, ordering] :
                 {Case{Precondition::ic0, 1, "auto"}, Case{Precondition::ic0, 1, "natural"}, Case{Precondition::ic0, fits, "auto"},
                  Case{Precondition::jacobi, 1, "auto"}, Case{Precondition::jacobi, fits, "auto"}}) {
                const bool on_cpu = std::holds_alternative<Cpu>(context.space);
                if (!on_cpu && std::string_view(ordering) == "natural") continue;
                SolverOptions options;
                options.precondition = precondition, options.block = block, options.tune = Tuning::off;
                options.ordering = Ordering::parse(ordering);
                Solver solver(context.space, A.view(), options);
                SolveLog log;
                std::vector<double> seconds;
                for (int repeat = 0; repeat < 3; ++repeat) {
                    solver.solve(b, &log);
                    seconds.push_back(log.iteration_seconds);
                }
                std::ranges::sort(seconds);
                const auto& setup = solver.setup();
                BenchmarkResult row;
                row.name = fmt::format("sparse.blocks, {}: {}, {}, {}{}", kind.name, name(precondition),
                                       block == 1 ? "scalar rows" : setup.format, setup.ordering, threads_label(context.space));
                row.n = A.rows();
                row.seconds = seconds[1];
                row.spread = (seconds[2] - seconds[0]) / seconds[1];
                row.rate = setup.bytes_per_iteration * log.iterations / seconds[1];
                row.unit = "bytes/s";
                row.bound = speed.triad;
                row.bound_reason = words(speed);
                row.error = log.true_residual;
                if (block == 1 && std::string_view(ordering) == "auto") scalar = seconds[1];
                row.more = {{"iterations", log.iterations},
                            {"seconds_per_iteration", seconds[1] / log.iterations},
                            {"bytes_per_row_and_iteration", setup.bytes_per_iteration / static_cast<double>(A.rows())},
                            {"setup_seconds", setup.total_seconds},
                            {"colors", setup.colors},
                            {"times_scalar", seconds[1] / scalar}};
                row.note = setup.ordering + ", " + setup.format;
                if (!log.converged()) row.note = "NOT CONVERGED: " + row.note;
                context.report(row);
            }
        }
}

}  // namespace

Benchmark sparse_blocks() {
    return {
        "sparse.blocks",
        "Linear elasticity in three and two dimensions by conjugate gradients to 1e-8: scalar rows (the layout that the rule chooses) and "
        "rows of dense blocks, which move 8 + 4 / B^2 bytes for an entry in place of 12 and have fewer colours. Times are of the "
        "iterations; the bound is the bandwidth of the memory, which caches exceed where a matrix fits, and the rate counts the bytes that "
        "an iteration must move.",
        [](const BenchmarkContext& context) { run_blocks(context); }};
}

}  // namespace kasane::bench
