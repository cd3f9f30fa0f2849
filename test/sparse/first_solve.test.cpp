// A first program: a matrix in the user's own arrays, solved. The documentation shows this text.
#include <kasane/sparse.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

TEST(FirstSolve, OnesOwnMatrixInTenLines) {
    namespace ks = kasane;
    // A bar of five cells with the value zero at both ends: -1 2 -1, heated everywhere.
    const std::vector<int> row_begin{0, 2, 5, 8, 11, 13}, column{0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4};
    const std::vector<double> value{2, -1, -1, 2, -1, -1, 2, -1, -1, 2, -1, -1, 2}, heat(5, 1.);
    ks::sparse::SolverOptions options;
    options.rtol = 1e-12;
    ks::sparse::Solver solver(ks::best_space(), ks::sparse::CsrView(5, row_begin.data(), column.data(), value.data()), options);
    ks::sparse::SolveLog log;
    const std::vector<double> temperature = solver.solve(heat, &log);

    EXPECT_TRUE(log.converged());
    ASSERT_EQ(temperature.size(), 5U);
    for (int i = 1; i <= 5; ++i)
        EXPECT_NEAR(temperature[static_cast<std::size_t>(i - 1)], i * (6 - i) / 2., 1e-11);  // the parabola, exactly
}

TEST(FirstSolve, ManyRightHandSidesAndAFirstGuess) {
    namespace ks = kasane;
    ks::sparse::PoissonProblem box;
    box.cells = {12, 10, 8};
    const auto A = ks::sparse::poisson_matrix(box);
    ks::sparse::SolverOptions options;
    options.ordering = ks::sparse::Ordering::parse("cm-rcm:4");
    options.format = ks::sparse::Format::parse("sell:8:1");
    options.precondition = ks::sparse::Precondition::ic0;
    ks::sparse::Solver solver(ks::Cpu{1}, A.view(), options);

    std::vector<double> b(960), x(960);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
    const auto first = solver.solve(ks::view(b), ks::view(x));
    EXPECT_TRUE(first.converged());
    EXPECT_LE(first.true_residual, 1e-7);
    for (auto& value : b) value *= 1.001;  // the next time step: its solution is close
    const auto second = solver.solve(ks::view(b), ks::view(x));
    EXPECT_TRUE(second.converged());
    EXPECT_LT(second.iterations, first.iterations);
}

}  // namespace
