// Multigrid for the box: against exact solutions and against ICCG on the assembled matrix; the number of iterations; extreme boxes.
#include <bench/sparse/box_solution.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/multigrid/poisson_boxes.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace test;

TEST(PoissonSolver, FindsTheExactSolutionInAsManyIterationsForAnyNumberOfCells) {
    for (const auto& on : box_spaces())
        for (const index_t n : {1, 2, 3, 7, 8, 31, 32, 64}) {
            const auto [x, log] = solved(on, box_problem(n, n, n));
            EXPECT_TRUE(log.converged()) << n;
            EXPECT_LT(far(x, bench::box_solution(n)), 1e-9) << n;
            EXPECT_LE(log.iterations, 15) << n;  // ICCG takes 73 at n = 32 and 173 at n = 64
        }
}

/// A thread of a device computes four planes of large boxes; 131 are not a multiple of four.
TEST(PoissonSolver, SolvesLargeBoxes) {
    const auto problem = box_problem(130, 130, 131);
    for (const auto& on : box_spaces()) {
        const auto [x, log] = solved(on, problem, 1e-8);
        EXPECT_TRUE(log.converged());
        EXPECT_EQ(log.iterations, 14) << "on every space";
        EXPECT_LE(residual(problem, x), 1.01e-8);
    }
}

TEST(PoissonSolver, ItsOperatorIsTheAssembledMatrix) {
    auto problem = box_problem(5, 4, 6);
    problem.spacing = {{{1, 2, 0.5, 1, 3}, {0.1}, {1, 1, 2, 2, 5, 0.2}}};
    problem.boundary[0] = {BoundaryKind::dirichlet, 1};
    problem.boundary[3] = {BoundaryKind::neumann, 2};
    for (std::size_t c = 0; c < 120; ++c) problem.coefficient.push_back(std::exp(std::sin(static_cast<double>(7 * c))));
    expect_operator_of_matrix(problem);
}

TEST(BoxMultigrid, IsSymmetricAndPositive) {
    auto problem = box_problem(13, 10, 9);
    problem.spacing[1] = {0.3};
    problem.coefficient = random_jumps(problem.rows(), 50);
    expect_symmetric_positive_cycle(problem);
}

struct Case {
    std::string name;
    PoissonProblem problem;
    int iterations;  ///< at most; about 1.3 times what was measured
};

std::vector<Case> cases() {
    std::vector<Case> all;
    all.reserve(16);  // references to cases stay valid
    const auto add = [&](const char* name, int iterations, PoissonProblem problem) -> PoissonProblem& {
        all.push_back({name, std::move(problem), iterations});
        return all.back().problem;
    };
    add("flat cells", 16, box_problem(32, 32, 32)).spacing[2] = {0.1};
    add("long cells", 16, box_problem(32, 32, 32)).spacing[0] = {20};
    add("uneven numbers of cells", 18, box_problem(37, 18, 5));
    add("one line", 16, box_problem(200, 1, 1)).boundary[0] = {BoundaryKind::dirichlet, 3};
    add("one layer", 16, box_problem(40, 50, 1));
    for (auto& face : add("Dirichlet everywhere", 16, box_problem(32, 32, 32)).boundary) face = {BoundaryKind::dirichlet, 1};
    auto& stretched = add("stretched cells", 25, box_problem(32, 32, 32));
    stretched.spacing[0].clear();
    for (int i = 0; i < 32; ++i) stretched.spacing[0].push_back(std::pow(1.2, i));
    auto& layers = add("an insulating layer", 45, box_problem(32, 32, 32));
    auto& checks = add("a checkerboard of blocks, 1 and 1000", 45, box_problem(32, 32, 32));
    for (int c = 0; c < 32768; ++c) {
        const int i = c % 32, j = c / 32 % 32, k = c / 1024;
        layers.coefficient.push_back(k > 10 && k < 17 ? 1e-4 : 1);
        checks.coefficient.push_back((i / 8 + j / 8 + k / 8) % 2 ? 1000 : 1);
    }
    auto& closed = add("no Dirichlet face", 16, box_problem(32, 32, 32));
    closed.boundary[5] = {BoundaryKind::neumann, 0};
    return all;
}

TEST(PoissonSolver, ConvergesOnBoxesOfEveryKind) {
    for (const auto& [name, problem, iterations] : cases())
        for (const auto& on : box_spaces()) {
            const auto [x, log] = solved(on, problem, 1e-8);
            EXPECT_TRUE(log.converged()) << name;
            EXPECT_LE(log.iterations, iterations) << name;
            EXPECT_LT(residual(problem, x), 1e-7) << name;
            EXPECT_NEAR(log.true_residual, residual(problem, x), 1e-9) << name;
        }
}

TEST(PoissonSolver, GivesTheSolutionOfTheMatrixSolver) {
    auto problem = box_problem(20, 12, 9);
    problem.boundary[1] = {BoundaryKind::dirichlet, -3};
    problem.boundary[2] = {BoundaryKind::neumann, 0.5};
    const auto b = poisson_rhs(problem);
    SolverOptions options;
    options.rtol = 1e-12;
    Solver reference(Cpu{1}, poisson_matrix(problem).view(), options);
    EXPECT_LT(far(solved(Cpu{2}, problem, 1e-12).x, reference.solve(b)), 1e-10);
}

TEST(PoissonSolver, ResultsDoNotDependOnThreads) {
    const auto problem = box_problem(40, 33, 29);
    const auto one = solved(Cpu{1}, problem);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(solved(Cpu{threads}, problem).x, one.x) << threads;
}

TEST(PoissonSolver, UnitsDoNotMatter) {
    const auto plain = solved(Cpu{1}, box_problem(16, 16, 16));
    for (const double unit : {1e-100, 1e100}) {
        auto problem = box_problem(16, 16, 16);
        for (double& value : problem.source) value *= unit;
        problem.coefficient.assign(4096, 1e-40);
        auto [x, log] = solved(Cpu{1}, problem);
        EXPECT_TRUE(log.converged()) << unit;
        for (double& value : x) value *= 1e-40 / unit;
        EXPECT_LT(far(x, plain.x), 1e-9) << unit;
    }
}

TEST(PoissonSolver, BeginsWithTheGivenGuessAndStopsWhereAsked) {
    const auto problem = box_problem(32, 32, 32);
    const auto b = poisson_rhs(problem);
    PoissonSolver solver(Cpu{2}, problem, {.rtol = 1e-10});
    auto x = bench::box_solution(32);
    EXPECT_LE(solver.solve(view(b), view(x)).iterations, 1);
    std::vector<double> y(b.size(), 0.);
    const auto log = solver.solve(view(b), view(y), [](int iteration, double) { return iteration == 3; });
    EXPECT_EQ(log.end, krylov::Outcome::stopped);
    EXPECT_EQ(log.iterations, 3);
    EXPECT_EQ(log.history.size(), 4u);
    EXPECT_TRUE(solver.solve(view(b), view(y)).converged());
}

TEST(PoissonSolver, RefusesWhatCannotBeSolved) {
    const auto problem = box_problem(4, 4, 4);
    EXPECT_THROW(PoissonSolver(Cpu{1}, problem, {.rtol = 0}), InputError);
    EXPECT_THROW(PoissonSolver(Cpu{1}, problem, {.iteration_limit = 0}), InputError);
    auto wrong = problem;
    wrong.coefficient = {1, 2};
    EXPECT_THROW(PoissonSolver(Cpu{1}, wrong), InputError);
    PoissonSolver solver(Cpu{1}, problem);
    std::vector<double> b(64, 1.), x(64, 0.), few(63, 0.);
    EXPECT_THROW(solver.solve(view(b), view(few)), LogicError);
    b[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(solver.solve(view(b), view(x)), InputError);
}

TEST(PoissonSolver, HoldsNoMoreMemoryThanEstimated) {
    for (const auto& problem : {box_problem(32, 32, 32), box_problem(512, 8, 8), box_problem(4096, 1, 1)})
        EXPECT_LT(PoissonSolver(Cpu{1}, problem).setup().bytes + 56 * static_cast<std::uint64_t>(problem.rows()),
                  poisson_solver_memory(problem));
}

}  // namespace
}  // namespace kasane::sparse
