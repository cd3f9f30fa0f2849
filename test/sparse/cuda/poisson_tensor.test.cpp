// A Poisson problem with a tensor on a CUDA device: rows of 27 entries with entries of both signs, by the factors and by both forms of
// multigrid.
#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/poisson/fields.hpp>

namespace {

using namespace kasane;
using namespace kasane::sparse;

TEST(PoissonTensorOnCuda, IsSolvedAsOnTheCpu) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    PoissonProblem problem;
    problem.cells = {24, 20, 18};
    std::array<std::vector<double>, 6> tensor;
    tensor[0] = source_of(problem, "1 + 9*cos(x/8)^2");
    tensor[1] = source_of(problem, "9*cos(x/8)*sin(x/8)");
    tensor[2] = source_of(problem, "0.3*sin(y)");
    tensor[3] = source_of(problem, "1 + 9*sin(x/8)^2");
    tensor[5] = {2};
    problem.tensor = tensor;
    problem.source = source_of(problem, "sin(i) + j*k/100");
    const auto here = test::solve(problem, 1e-11), there = test::solve(problem, 1e-11, best_space());
    double size = 0;
    for (const double value : here) size = std::max(size, std::fabs(value));
    EXPECT_LE(test::largest_difference(there, here), 1e-7 * size);
    const auto A = poisson_matrix(problem);
    for (const auto precondition : {Precondition::multigrid, Precondition::ict}) {
        SolverOptions options;
        options.precondition = precondition, options.rtol = 1e-11;
        SolveLog log;
        EXPECT_LE(test::largest_difference(Solver(best_space(), A.view(), options).solve(poisson_rhs(problem), &log), here), 1e-7 * size);
        EXPECT_TRUE(log.converged());
    }

    // Geometric multigrid of the diagonal part, with vectors of the host and of the device.
    PoissonSolver solver(best_space(), problem, {.rtol = 1e-11});
    const auto b = poisson_rhs(problem);
    std::vector<double> x(b.size(), 0.);
    ASSERT_TRUE(solver.solve(view(b), view(x)).converged());
    EXPECT_LE(test::largest_difference(x, here), 1e-7 * size);
#if defined(KASANE_CUDA)
    const Cuda device = std::get<Cuda>(best_space());
    const auto rhs = to_space(device, b);
    auto solution = to_space(device, std::vector<double>(b.size(), 0.));
    EXPECT_TRUE(solver.solve_on_device(rhs.view(), solution.view()).converged());
    EXPECT_LE(test::largest_difference(to_host(solution), here), 1e-7 * size);
#endif
}

}  // namespace
