#include <bench/sparse/device_csr.hpp>

#if defined(KASANE_CUDA)
namespace kasane::bench {

using namespace sparse;

BenchmarkResult device_row(SparseProblems& problems, Cuda on, index_t side, const std::string& name, const SolverOptions& options) {
    const auto& problem = problems.box(side);
    try {
        DeviceCsr A(on, problem);
        const auto runs = device_runs(on, A, [&] { return Solver::on_device(on, A.view(), options); });
        const auto& median = runs[runs.size() / 2];
        auto row = row_of(name,
                          {median.log,
                           median.setup,
                           {median.total, (runs.back().total - runs.front().total) / median.total},
                           median.log.iteration_seconds,
                           problem.error(to_host(A.x))},
                          problems.speed(on));
        row.more.emplace_back("whole_setup_seconds", median.setup_seconds);
        row.more.emplace_back("solve_seconds", median.log.seconds);
        return row;
    } catch (const Error& error) {
        return absent(name, problem.rows(), error.what());
    }
}

}  // namespace kasane::bench
#endif
