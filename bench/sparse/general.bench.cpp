// sparse.general: convection and diffusion in a box, a nonsymmetric system, by GeneralSolver and by Eigen's BiCGSTAB with IncompleteLUT.
#include <bench/sparse/peers/eigen.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace sparse;

namespace {

struct ConvectionBox {
    CsrMatrix matrix;
    std::vector<double> rhs, exact;
    double error(const double* x) const {
        double worst = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) worst = std::max(worst, std::fabs(x[i] - exact[i]) / std::fabs(exact[i]));
        return worst;
    }
};

/// -nu laplacian phi + w . grad phi on side^3 points inside the unit cube, phi = 0 outside, upwind differences, times h^2.
ConvectionBox convection_box(index_t side, double nu, const double (&wind)[3]) {
    ConvectionBox box;
    const double h = 1. / static_cast<double>(side + 1);
    const index_t stride[3]{1, side, side * side};
    box.matrix.begin = {0};
    for (index_t row = 0; row < side * side * side; ++row) {
        const index_t at[3]{row % side, row / side % side, row / (side * side)};
        const auto put = [&](index_t column, double value) {
            box.matrix.column.push_back(static_cast<std::int32_t>(column));
            box.matrix.value.push_back(value);
        };
        double diagonal = 0;
        for (const double w : wind) diagonal += 2 * nu + h * std::fabs(w);
        for (int a = 2; a >= 0; --a)
            if (at[a] > 0) put(row - stride[a], -nu - h * std::max(wind[a], 0.));
        put(row, diagonal);
        for (int a = 0; a < 3; ++a)
            if (at[a] + 1 < side) put(row + stride[a], -nu - h * std::max(-wind[a], 0.));
        box.matrix.begin.push_back(static_cast<index_t>(box.matrix.column.size()));
        box.exact.push_back(2 + std::sin(0.01 * static_cast<double>(row % 1009)));
    }
    box.rhs.assign(box.exact.size(), 0.);
    for (std::size_t i = 0; i < box.exact.size(); ++i)
        for (auto e = static_cast<std::size_t>(box.matrix.begin[i]); e < static_cast<std::size_t>(box.matrix.begin[i + 1]); ++e)
            box.rhs[i] += box.matrix.value[e] * box.exact[static_cast<std::size_t>(box.matrix.column[e])];
    return box;
}

BenchmarkResult row_for(const std::string& name, const ConvectionBox& box, double iterations, double seconds, double setup,
                        const double* x) {
    BenchmarkResult row;
    row.name = name;
    row.n = box.matrix.rows();
    row.seconds = seconds;
    row.rate = iterations / seconds;
    row.unit = "iterations/s";
    row.error = box.error(x);
    row.more = {{"iterations", iterations}, {"setup_seconds", setup}};
    return row;
}

#if defined(KASANE_PEER_EIGEN)
BenchmarkResult with_eigen(const ConvectionBox& box, Cpu on) {
    Eigen::setNbThreads(thread_count(on));
    const EigenRows own = eigen_rows(box.matrix);
    Eigen::BiCGSTAB<EigenRows, Eigen::IncompleteLUT<double, std::int32_t>> solver;
    solver.setTolerance(1e-8);
    solver.setMaxIterations(10000);
    Stopwatch watch;
    solver.compute(own);
    const double setup = watch.seconds();
    watch.restart();
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(box.rhs.data(), own.rows());
    const Eigen::VectorXd x = solver.solve(b);
    auto row = row_for("sparse.general, peer Eigen BiCGSTAB with IncompleteLUT" + threads_label(AnySpace(on)), box,
                       static_cast<double>(solver.iterations()), watch.seconds(), setup, x.data());
    row.more.emplace_back("true_residual", (b - own * x).norm() / b.norm());
    row.note = eigen_version();
    if (solver.info() != Eigen::Success) row.note = "NOT CONVERGED: " + row.note;
    return row;
}
#endif

void run_general(const BenchmarkContext& context) {
    for (const auto side : sides_or(context, {64, 96}, {64, 128}))
        for (const double nu : {1., 0.01}) {
            const auto box = convection_box(side, nu, {1, 0.5, 0.25});
            const auto label = fmt::format(", nu = {}", nu);
            for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres}) {
                GeneralSolver solver(context.space, box.matrix.view(), {.method = method});
                std::vector<double> x, seconds;
                SolveLog log;
                for (int repeat = 0; repeat < 3; ++repeat) {
                    x = solver.solve(box.rhs, &log);
                    seconds.push_back(log.seconds);
                }
                std::ranges::sort(seconds);
                auto row = row_for("sparse.general, " + name(method) + label + threads_label(context.space), box, log.iterations,
                                   seconds[1], solver.setup().total_seconds, x.data());
                row.more.emplace_back("true_residual", log.true_residual);
                row.note = solver.setup().ordering + ", " + solver.setup().precondition;
                if (!log.converged()) row.note = "NOT CONVERGED: " + row.note;
                context.report(row);
            }
#if defined(KASANE_PEER_EIGEN)
            if (const auto* cpu = std::get_if<Cpu>(&context.space)) {
                auto row = with_eigen(box, *cpu);
                row.name += label;
                context.report(row);
            }
#endif
        }
}

}  // namespace

Benchmark sparse_general() {
    return {"sparse.general",
            "Convection and diffusion in the unit cube, upwind differences, wind (1, 1/2, 1/4): a nonsymmetric system to 1e-8 by "
            "GeneralSolver with ILU(0), and by Eigen's BiCGSTAB with IncompleteLUT where Eigen was found. Times are of the solve, without "
            "the set-up; the error is the largest relative one over all unknowns.",
            [](const BenchmarkContext& context) { run_general(context); }};
}

}  // namespace kasane::bench
