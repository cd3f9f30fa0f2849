// sparse.scaling: distributed solvers on the workers of this run, the devices of one process or of several ranks.
#include <bench/bench_workers.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <bench/threads.hpp>
#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>
#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kasane::bench {

using namespace sparse;

namespace {

/// The box of [HOHNI17], longer along z where there are more workers.
PoissonProblem box_of(index_t side, index_t planes) {
    PoissonProblem box;
    box.cells = {side, side, planes};
    return box;
}

std::vector<double> source_of_indices(const std::array<index_t, 3>& n) {
    std::vector<double> b;
    b.reserve(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    for (index_t k = 1; k <= n[2]; ++k)
        for (index_t j = 1; j <= n[1]; ++j)
            for (index_t i = 1; i <= n[0]; ++i) b.push_back(static_cast<double>(i + j + k));
    return b;
}

/// An electron in the box in a magnetic field along z: the box's matrix with phases flux * y on its entries along x (Peierls). Hermitian
/// positive definite.
ComplexCsrMatrix in_magnetic_field(const CsrMatrix& A, index_t side, double flux) {
    ComplexCsrMatrix result{A.begin, A.column, {A.value.begin(), A.value.end()}};
    for (index_t i = 0; i < A.rows(); ++i)
        for (auto k = static_cast<std::size_t>(A.begin[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(A.begin[static_cast<std::size_t>(i) + 1]); ++k)
            if (const auto step = A.column[k] - i; step == 1 || step == -1)
                result.value[k] *= std::polar(1., flux * static_cast<double>(step * (i / side % side)));
    return result;
}

class SparseScalingStudy {
   public:
    explicit SparseScalingStudy(const BenchmarkContext& context) : context_(context), workers_(context) {
        sides_ = context.sizes;
        if (sides_.empty())
            sides_ = workers_.on_cpu ? std::vector<index_t>{context.quick ? 32 : 64} : std::vector<index_t>{context.quick ? 128 : 512};
        matrix_side_ = workers_.on_cpu ? sides_.front() : std::min<index_t>(sides_.front(), 128);
    }

    void run() {
        workers_.for_each_set([&](comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
            for (const auto side : sides_) {
                box(workers, here, side, side);
                if (workers.size() > 1) box(workers, here, side, side * workers.size());
            }
            for (const auto precondition : {Precondition::ic0, Precondition::multigrid})
                for (const int overlap : {0, 2}) matrix(workers, here, precondition, overlap);
            for (const auto precondition : {Precondition::ic0, Precondition::multigrid})
                for (const int coarse_rows : {0, 256}) complex_matrix(workers, here, precondition, coarse_rows);
        });
    }

   private:
    /// Median seconds of the iterations of three solves from zero, after one that loads the kernels, and the log of the last.
    template <class AnySolver, class T>
    static std::pair<double, SolveLog> timed(AnySolver& solver, const std::vector<T>& b) {
        std::vector<double> seconds;
        SolveLog log;
        for (int repeat = 0; repeat < 4; ++repeat) {
            std::vector<T> x(b.size(), T(0));
            log = solver.solve(view(b), view(x));
            if (repeat > 0) seconds.push_back(log.iteration_seconds);
        }
        std::ranges::sort(seconds);
        return {seconds[1], log};
    }

    BenchmarkResult row_of_log(std::string name, index_t n, double seconds, const SolveLog& log, int workers) const {
        BenchmarkResult row;
        row.name = std::move(name);
        row.n = n;
        row.seconds = seconds;
        row.rate = static_cast<double>(n) * log.iterations / seconds;
        row.unit = "unknowns/s";
        row.error = log.true_residual;
        row.note = shared_;
        row.more = {{"members", workers}, {"iterations", log.iterations}, {"iteration_seconds", seconds / std::max(1, log.iterations)}};
        return row;
    }

    void box(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, index_t side, index_t planes) {
        if (!workers_.leads()) return distributed_poisson_loop(workers, here);
        const auto problem = box_of(side, planes);
        if (workers.size() > 1) {
            DistributedPoissonSolver solver(workers, here, problem);
            report_box(workers.size(), here.front(), problem, solver);
        } else {
            PoissonSolver solver(here.front(), problem);
            report_box(1, here.front(), problem, solver);
        }
    }

    template <class AnySolver>
    void report_box(int workers, const AnySpace& on, const PoissonProblem& problem, AnySolver& solver) {
        const auto side = problem.cells[0], planes = problem.cells[2];
        const auto [seconds, log] = timed(solver, source_of_indices(problem.cells));
        auto row =
            row_of_log(fmt::format("sparse.scaling, box {0}x{0}x{1}, P {2}", side, planes, workers), problem.rows(), seconds, log, workers);
        row.more.emplace_back("setup_seconds", solver.setup().seconds);
        row.more.emplace_back("bytes_per_unknown", static_cast<double>(solver.setup().bytes) / static_cast<double>(problem.rows()));
        const double each = seconds / std::max(1, log.iterations);
        row.rate = multigrid_bytes(problem, workers == 1 && !std::holds_alternative<Cpu>(on)).all() / each;
        row.unit = "bytes/s";
        row.bound = workers * speeds_.of(on).triad;
        row.bound_reason = "every array once in each pass of an iteration, at the triad's bandwidth of all workers";
        each_[{workers, side, planes}] = each;
        if (const auto one = each_.find({1, side, side}); workers > 1 && one != each_.end())
            row.more.emplace_back(planes == side ? "strong" : "weak", planes == side ? one->second / (workers * each) : one->second / each);
        context_.report(row);
    }

    void matrix(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, Precondition precondition, int overlap) {
        if (!workers_.leads()) return distributed_solver_loop(workers, here);
        const auto problem = box_of(matrix_side_, matrix_side_);
        if (matrix_.rows() == 0) matrix_ = poisson_matrix(problem);
        DistributedSolver solver(workers, here, matrix_.view(), {.precondition = precondition, .overlap = overlap});
        const auto [seconds, log] = timed(solver, source_of_indices(problem.cells));
        auto row = row_of_log(fmt::format("sparse.scaling, {}, overlap {}, P {}", name(precondition), overlap, workers.size()),
                              problem.rows(), seconds, log, workers.size());
        row.more.emplace_back("setup_seconds", solver.setup().total_seconds);
        context_.report(row);
    }

    /// After matrix(), which makes matrix_.
    void complex_matrix(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, Precondition precondition, int coarse_rows) {
        if (!workers_.leads()) return distributed_complex_solver_loop(workers, here);
        constexpr double flux = 0.002;  // a weak field leaves long waves
        const auto A = in_magnetic_field(matrix_, matrix_side_, flux);
        DistributedComplexSolver solver(workers, here, A.view(), {.precondition = precondition, .coarse_rows = coarse_rows});
        const auto b = source_of_indices(box_of(matrix_side_, matrix_side_).cells);
        const auto [seconds, log] = timed(solver, std::vector<std::complex<double>>(b.begin(), b.end()));
        auto row =
            row_of_log(fmt::format("sparse.scaling, complex, {}, {} coarse rows, P {}", name(precondition), coarse_rows, workers.size()),
                       A.rows(), seconds, log, workers.size());
        row.more.emplace_back("setup_seconds", solver.setup().total_seconds);
        context_.report(row);
    }

    const BenchmarkContext& context_;
    BenchWorkers workers_;
    std::string shared_ = shared_note(workers_.ranks, workers_.here);
    std::vector<index_t> sides_;
    index_t matrix_side_ = 0;
    CsrMatrix matrix_;
    Speeds speeds_;
    std::map<std::tuple<int, index_t, index_t>, double> each_;  ///< seconds of an iteration by workers, side, planes
};

}  // namespace

Benchmark sparse_scaling() {
    return {"sparse.scaling",
            "The box of [HOHNI17] to 1e-8 on P workers, a device or a share of the CPU each. `box`: DistributedPoissonSolver, n x n x n "
            "cells and n x n x P n. `strong` and `weak` compare the time of an iteration with that of one worker on n x n x n: "
            "t(1) / (P t(P)) and t(1) / t(P). Other rows: DistributedSolver from the matrix, a smaller box; `complex`: "
            "DistributedComplexSolver, the same box in "
            "a magnetic field (a phase of 0.002 around a square). `seconds` are of the iterations, the median of three solves; "
            "vectors travel from and to the root rank before and after. The error is the true residual. The bound is the triad of all "
            "workers: caches exceed it where the grids fit.",
            [](const BenchmarkContext& context) { SparseScalingStudy(context).run(); }, true};
}

}  // namespace kasane::bench
