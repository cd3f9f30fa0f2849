// sparse.solve.peer.eigen: Eigen's conjugate gradients with its incomplete Cholesky factor, on the same box with the same threads.
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>

#include <fmt/format.h>

#if defined(KASANE_PEER_EIGEN)
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

namespace kasane::bench {
namespace {

constexpr const char* eigen_case = "sparse.solve.peer.eigen";

#if defined(KASANE_PEER_EIGEN)
/// @param Order  of the factor's elimination: Eigen's own choice is approximate minimum degree
template <class Order>
void solve_with_eigen(const BenchmarkContext& context, SparseProblems& problems, Cpu on, index_t side, const std::string& label) {
    // By rows and with both triangles: the only storage whose product Eigen shares among threads.
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
    using Factor = Eigen::IncompleteCholesky<double, Eigen::Lower, Order>;
    Eigen::setNbThreads(thread_count(on));
    const auto& problem = problems.box(side);
    const auto& A = problem.matrix;
    const std::vector<std::int32_t> begin(A.begin.begin(), A.begin.end());
    const Eigen::Map<const Matrix> matrix(A.rows(), A.rows(), A.nonzeros(), begin.data(), A.column.data(), A.value.data());
    const Eigen::Map<const Eigen::VectorXd> b(problem.rhs.data(), A.rows());
    const Matrix own(matrix);

    Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Factor> solver;
    solver.setTolerance(1e-8);
    solver.setMaxIterations(10000);
    Stopwatch watch;
    solver.compute(own);
    const double setup = watch.seconds();
    watch.restart();
    const Eigen::VectorXd x = solver.solve(b);
    BenchmarkResult row;
    row.seconds = watch.seconds();
    row.name = std::string(eigen_case) + ", " + label + threads_label(on);
    row.n = A.rows();
    row.rate = static_cast<double>(solver.iterations()) / row.seconds;
    row.unit = "iterations/s";
    row.error = problem.error({x.data(), x.data() + x.size()});
    const double ours = problems.our_seconds(on, side);
    row.more = {{"iterations", static_cast<double>(solver.iterations())},
                {"seconds_per_iteration", row.seconds / static_cast<double>(solver.iterations())},
                {"true_residual", (b - own * x).norm() / b.norm()},
                {"setup_seconds", setup},
                {"our_seconds", ours},
                {"times_ours", row.seconds / ours}};
    row.note = fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
    if (solver.info() != Eigen::Success) row.note = "NOT CONVERGED: " + row.note;
    context.report(row);
}
#endif

void run_eigen(const BenchmarkContext& context, [[maybe_unused]] SparseProblems& problems) {
    const auto* on = std::get_if<Cpu>(&context.space);
    if (!on) return;
    for (const auto side : sides_or(context, {128}, {})) {
#if defined(KASANE_PEER_EIGEN)
        solve_with_eigen<Eigen::AMDOrdering<std::int32_t>>(context, problems, *on, side, "AMD order");
        solve_with_eigen<Eigen::NaturalOrdering<std::int32_t>>(context, problems, *on, side, "natural order");
#else
        context.report(absent(eigen_case, side * side * side, "Eigen 3 was not found when kasane was built (Debian: libeigen3-dev)"));
#endif
    }
}

}  // namespace

Benchmark sparse_peer_eigen(const SharedSparse& shared) {
    return {
        eigen_case,
        "Eigen's `ConjugateGradient<..., Lower | Upper, IncompleteCholesky>` on the box of `sparse.solve`, stored by rows, to the same "
        "tolerance with the same threads (CPU alone; its triangular solves are serial), with its default order of elimination and with "
        "the natural one. Seconds are those of the solve, `setup_seconds` of the factorisation; `times_ours` is over `our_seconds`, the "
        "solve with everything left to `auto` on the same threads in the same run.",
        [shared](const BenchmarkContext& context) { run_eigen(context, *shared); }};
}

}  // namespace kasane::bench
