// Geometric multigrid for periodic boxes: against the assembled matrix, exact solutions and ICCG; the number of iterations.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/multigrid/poisson_boxes.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace test;

/// @param directions  bit d: periodic along d
PoissonProblem periodic_box(std::array<index_t, 3> cells, unsigned directions) {
    auto problem = box_problem(cells[0], cells[1], cells[2]);
    for (std::size_t d = 0; d < 3; ++d)
        if (directions >> d & 1) problem.boundary[2 * d].kind = problem.boundary[2 * d + 1].kind = BoundaryKind::periodic;
    return problem;
}

/// Coefficients and widths that vary.
PoissonProblem rough_periodic_box(std::array<index_t, 3> cells, unsigned directions) {
    auto problem = periodic_box(cells, directions);
    for (std::size_t d = 0; d < 3; ++d) {
        problem.spacing[d].clear();
        for (index_t i = 0; i < cells[d]; ++i)
            problem.spacing[d].push_back(1 + 0.4 * std::sin(static_cast<double>(3 * i) + static_cast<double>(d)));
    }
    problem.coefficient = random_jumps(problem.rows(), 5);
    return problem;
}

TEST(PeriodicBox, ItsOperatorIsTheAssembledMatrix) {
    for (unsigned directions = 1; directions < 8; ++directions) expect_operator_of_matrix(rough_periodic_box({4, 6, 8}, directions));
}

TEST(PeriodicBox, ItsCycleIsSymmetricAndPositive) {
    for (unsigned directions = 1; directions < 8; ++directions) {
        expect_symmetric_positive_cycle(rough_periodic_box({14, 10, 12}, directions));  // pairs are divided
        expect_symmetric_positive_cycle(rough_periodic_box({16, 16, 8}, directions));
    }
    auto flat = periodic_box({18, 20, 34}, 5);
    flat.spacing = {{{0.2}, {1}, {3}}};
    flat.coefficient = random_jumps(flat.rows(), 50);
    expect_symmetric_positive_cycle(flat);
}

TEST(PeriodicBox, GridsHaveEvenNumbersOfCellsAlongPeriodicDirections) {
    const auto grids = PoissonSolver(Cpu{1}, periodic_box({42, 37, 24}, 5)).setup().grids;
    // Without a divided pair 42 cells would become 21, and 6 would become 3.
    const std::vector<std::array<int, 3>> wanted{{42, 37, 24}, {22, 19, 12}, {12, 10, 6}, {6, 5, 4}, {4, 3, 2}};
    EXPECT_EQ(grids, wanted);
}

/// A wave is an eigenvector of the periodic box: the solution of the scheme is known exactly, and that of the equation to second order.
TEST(PeriodicBox, SolvesWavesToSecondOrder) {
    constexpr double pi = std::numbers::pi;
    for (const auto& on : box_spaces()) {
        double error[2];
        for (const index_t n : {16, 32}) {
            auto problem = periodic_box({n, n, n}, 7);
            const double h = 1 / static_cast<double>(n);
            problem.spacing = {{{h}, {h}, {h}}};
            std::vector<double> wave;
            for (index_t c = 0; c < problem.rows(); ++c) {
                const double x = h * (static_cast<double>(c % n) + 0.5), y = h * (static_cast<double>(c / n % n) + 0.5),
                             z = h * (static_cast<double>(c / n / n) + 0.5);
                wave.push_back(std::sin(2 * pi * x) * std::cos(4 * pi * y) * std::sin(2 * pi * z + 1));
            }
            problem.source = wave;
            const auto [phi, log] = solved(on, problem, 1e-12);
            EXPECT_TRUE(log.converged());
            const auto mode = [&](int k) { return 4 * std::pow(std::sin(pi * k * h) / h, 2); };
            std::vector<double> discrete, exact;
            for (const double value : wave) {
                discrete.push_back(value / (2 * mode(1) + mode(2)));
                exact.push_back(value / (24 * pi * pi));
            }
            EXPECT_LT(far(phi, discrete), 1e-10);
            error[n == 32] = far(phi, exact);
        }
        EXPECT_NEAR(error[0] / error[1], 4, 0.1);
    }
}

TEST(PeriodicBox, GivesTheSolutionOfTheMatrixSolver) {
    for (unsigned directions = 1; directions < 8; ++directions) {
        auto problem = rough_periodic_box({12, 18, 10}, directions);
        if (directions == 3) problem.boundary[4] = {BoundaryKind::neumann, 0.5};
        if (problem.singular()) {
            double sum = 0;
            const auto b = poisson_rhs(problem);
            for (const double value : b) sum += value;
            problem.source.front() -= sum / (b.front() / problem.source.front());
        }
        const auto b = poisson_rhs(problem);
        SolverOptions options;
        options.rtol = 1e-12;
        Solver reference(Cpu{1}, poisson_matrix(problem).view(), options);
        auto wanted = reference.solve(b);
        if (problem.singular()) {
            double mean = 0;
            for (const double value : wanted) mean += value / static_cast<double>(wanted.size());
            for (double& value : wanted) value -= mean;
        }
        for (const auto& on : box_spaces()) EXPECT_LT(far(solved(on, problem, 1e-12).x, wanted), 1e-9) << directions;
    }
}

TEST(PeriodicBox, TakesAsManyIterationsAsOtherBoxes) {
    struct Case {
        std::string name;
        PoissonProblem problem;
        int iterations;  ///< at most; about 1.3 times what was measured
    };
    std::vector<Case> all;
    for (unsigned directions = 1; directions < 8; ++directions)
        all.push_back({"periodic along " + std::to_string(directions), periodic_box({32, 32, 32}, directions), 14});
    all.push_back({"64^3", periodic_box({64, 64, 64}, 7), 14});
    all.push_back({"a divided pair", periodic_box({42, 26, 50}, 7), 16});
    all.push_back({"a divided pair on every grid", periodic_box({66, 66, 34}, 7), 16});
    all.push_back({"odd numbers of cells elsewhere", periodic_box({37, 18, 5}, 2), 16});
    all.push_back({"one line", periodic_box({200, 1, 1}, 1), 16});
    all.push_back({"one layer", periodic_box({40, 50, 1}, 3), 16});
    all.push_back({"flat cells", periodic_box({32, 32, 32}, 7), 16});
    all.back().problem.spacing[2] = {0.1};
    all.push_back({"long cells", periodic_box({32, 32, 32}, 3), 16});
    all.back().problem.spacing[0] = {20};
    all.push_back({"an insulating layer", periodic_box({32, 32, 32}, 3), 35});
    all.push_back({"a checkerboard of blocks, 1 and 1000", periodic_box({32, 32, 32}, 7), 24});
    for (int c = 0; c < 32768; ++c) {
        const int i = c % 32, j = c / 32 % 32, k = c / 1024;
        all[all.size() - 2].problem.coefficient.push_back(k > 10 && k < 17 ? 1e-4 : 1);
        all.back().problem.coefficient.push_back((i / 8 + j / 8 + k / 8) % 2 ? 1000 : 1);
    }
    for (const auto& [name, problem, iterations] : all)
        for (const auto& on : box_spaces()) {
            const auto [x, log] = solved(on, problem, 1e-8);
            EXPECT_TRUE(log.converged()) << name;
            EXPECT_LE(log.iterations, iterations) << name;
            EXPECT_LT(residual(problem, x), 1e-7) << name;
        }
}

/// Moves round the box: the solution of a source that is moved is the solution moved.
TEST(PeriodicBox, HasNoPreferredCell) {
    auto problem = periodic_box({20, 10, 12}, 7);
    for (index_t c = 0; c < problem.rows(); ++c) problem.source[static_cast<std::size_t>(c)] = std::sin(static_cast<double>(c * c));
    const auto plain = solved(Cpu{1}, problem, 1e-12).x;
    const auto moved_from = [](std::size_t c) { return (c % 20 + 7) % 20 + 20 * ((c / 20 % 10 + 3) % 10 + 10 * ((c / 200 + 11) % 12)); };
    auto moved = problem;
    for (std::size_t c = 0; c < plain.size(); ++c) moved.source[c] = problem.source[moved_from(c)];
    const auto there = solved(Cpu{1}, moved, 1e-12).x;
    std::vector<double> wanted;
    for (std::size_t c = 0; c < plain.size(); ++c) wanted.push_back(plain[moved_from(c)]);
    EXPECT_LT(far(there, wanted), 1e-10);
}

TEST(PeriodicBox, ResultsDoNotDependOnThreads) {
    const auto problem = rough_periodic_box({40, 34, 29}, 3);
    const auto one = solved(Cpu{1}, problem);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(solved(Cpu{threads}, problem).x, one.x) << threads;
}

TEST(PeriodicBox, RefusesAnOddNumberOfCells) {
    try {
        PoissonSolver(Cpu{1}, periodic_box({8, 7, 5}, 3));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problems()[0].where.key, "y_min");
        EXPECT_NE(std::string(error.what()).find("7 cells along y"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("Precondition::multigrid"), std::string::npos) << error.what();
    }
}

TEST(PeriodicBox, HoldsNoMoreMemoryThanEstimated) {
    for (const auto& problem : {periodic_box({32, 32, 32}, 7), periodic_box({10, 10, 800}, 7), periodic_box({4098, 2, 2}, 1)})
        EXPECT_LT(PoissonSolver(Cpu{1}, problem).setup().bytes + 56 * static_cast<std::uint64_t>(problem.rows()),
                  poisson_solver_memory(problem));
}

}  // namespace
}  // namespace kasane::sparse
