// sparse.solve.peer.eigen: Eigen's conjugate gradients with its incomplete Cholesky factor, on the same box with the same threads.
#include <bench/sparse/peers/eigen.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>

#include <fmt/format.h>

namespace kasane::bench {
namespace {

constexpr const char* eigen_case = "sparse.solve.peer.eigen";

#if defined(KASANE_PEER_EIGEN)
/// @param Order  of the factor's elimination: Eigen's own choice is approximate minimum degree
template <class Order>
void solve_with_eigen(const BenchmarkContext& context, SparseProblems& problems, Cpu on, index_t side, const std::string& label) {
    using Factor = Eigen::IncompleteCholesky<double, Eigen::Lower, Order>;
    Eigen::setNbThreads(thread_count(on));
    const auto& problem = problems.box(side);
    const EigenRows own = eigen_rows(problem.matrix);
    const Eigen::Map<const Eigen::VectorXd> b(problem.rhs.data(), own.rows());

    Eigen::ConjugateGradient<EigenRows, Eigen::Lower | Eigen::Upper, Factor> solver;
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
    row.n = own.rows();
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
    row.note = eigen_version();
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
