// A problem in the form of a user on a device, and the time of a set-up with a solve there, everything in device memory.
#pragma once

#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/buffer.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::bench {

/// CSR with 32-bit indices in device memory, with the vectors.
struct DeviceCsr {
    Buffer<std::int32_t, Cuda> begin, column;
    Buffer<double, Cuda> value, rhs, x;

    DeviceCsr(Cuda on, const SparseProblem& problem)
        : begin(to_space(on, std::vector<std::int32_t>(problem.matrix.begin.begin(), problem.matrix.begin.end()))),
          column(to_space(on, problem.matrix.column)),
          value(to_space(on, problem.matrix.value)),
          rhs(to_space(on, problem.rhs)),
          x(on, problem.rows()) {}
    sparse::CsrView view() const { return {x.size(), begin.data(), column.data(), value.data()}; }
};

/// A set-up and a solve.
template <class Facts>
struct DeviceRun {
    double total = 0, setup_seconds = 0;
    Facts setup;
    sparse::SolveLog log;
};

/// Set-ups and solves, each time from the start, the fastest first; the first one, which loads the kernels, is left out.
/// @param make  a solver for A
template <class Make>
auto device_runs(Cuda on, DeviceCsr& A, const Make& make) {
    using Facts = std::decay_t<decltype(make().setup())>;
    const std::vector<double> zero(static_cast<std::size_t>(A.x.size()), 0.);
    std::vector<DeviceRun<Facts>> runs;
    for (int repeat = 0; repeat < 6; ++repeat) {
        copy_from_host(on, A.x.view(), view(zero));
        synchronize(on);
        Stopwatch watch;
        auto solver = make();
        synchronize(on);
        const double setup_seconds = watch.seconds();
        auto log = solver.solve_on_device(A.rhs.view(), A.x.view());
        synchronize(on);
        if (repeat > 0) runs.push_back({watch.seconds(), setup_seconds, solver.setup(), std::move(log)});
    }
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
    return runs;
}

/// The median of five set-ups and solves by Solver as a row.
BenchmarkResult device_row(SparseProblems& problems, Cuda on, index_t side, const std::string& name, const sparse::SolverOptions& options);

}  // namespace kasane::bench
#endif
