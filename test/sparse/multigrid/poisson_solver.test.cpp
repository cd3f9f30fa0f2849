// Multigrid for the box: against exact solutions and against ICCG on the assembled matrix; the number of iterations; extreme boxes.
#include <bench/sparse/box_solution.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<AnySpace> box_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

PoissonProblem box(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    for (index_t k = 1; k <= nz; ++k)
        for (index_t j = 1; j <= ny; ++j)
            for (index_t i = 1; i <= nx; ++i) problem.source.push_back(static_cast<double>(i + j + k));
    return problem;
}

double far(const std::vector<double>& x, const std::vector<double>& y) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        difference = std::max(difference, std::abs(x[i] - y[i])), size = std::max(size, std::abs(y[i]));
    return difference / size;
}

struct Solved {
    std::vector<double> x;
    SolveLog log;
};

Solved solved(const AnySpace& on, const PoissonProblem& problem, double rtol = 1e-10) {
    PoissonSolver solver(on, problem, {.rtol = rtol, .iteration_limit = 500});
    const auto b = poisson_rhs(problem);
    Solved result{std::vector<double>(b.size(), 0.), {}};
    result.log = solver.solve(view(b), view(result.x));
    return result;
}

/// ||b - A x|| / ||b|| with the assembled matrix.
double residual(const PoissonProblem& problem, const std::vector<double>& x) {
    const auto A = poisson_matrix(problem);
    auto b = poisson_rhs(problem);
    double mean = 0, r2 = 0, b2 = 0;
    if (problem.singular()) {
        for (const double value : b) mean += value;
        mean /= static_cast<double>(b.size());
    }
    for (std::size_t row = 0; row < b.size(); ++row) {
        double r = b[row] - mean;
        b2 += r * r;
        for (auto at = static_cast<std::size_t>(A.begin[row]); at < static_cast<std::size_t>(A.begin[row + 1]); ++at)
            r -= A.value[at] * x[static_cast<std::size_t>(A.column[at])];
        r2 += r * r;
    }
    return std::sqrt(r2 / b2);
}

TEST(PoissonSolver, FindsTheExactSolutionInAsManyIterationsForAnyNumberOfCells) {
    for (const auto& on : box_spaces())
        for (const index_t n : {1, 2, 3, 7, 8, 31, 32, 64}) {
            const auto [x, log] = solved(on, box(n, n, n));
            EXPECT_TRUE(log.converged()) << n;
            EXPECT_LT(far(x, bench::box_solution(n)), 1e-9) << n;
            EXPECT_LE(log.iterations, 15) << n;  // ICCG takes 73 at n = 32 and 173 at n = 64
        }
}

/// A thread of a device computes four planes of large boxes; 131 are not a multiple of four.
TEST(PoissonSolver, SolvesLargeBoxes) {
    const auto problem = box(130, 130, 131);
    for (const auto& on : box_spaces()) {
        const auto [x, log] = solved(on, problem, 1e-8);
        EXPECT_TRUE(log.converged());
        EXPECT_EQ(log.iterations, 14) << "on every space";
        EXPECT_LE(residual(problem, x), 1.01e-8);
    }
}

TEST(PoissonSolver, ItsOperatorIsTheAssembledMatrix) {
    auto problem = box(5, 4, 6);
    problem.spacing = {{{1, 2, 0.5, 1, 3}, {0.1}, {1, 1, 2, 2, 5, 0.2}}};
    problem.boundary[0] = {BoundaryKind::dirichlet, 1};
    problem.boundary[3] = {BoundaryKind::neumann, 2};
    for (std::size_t c = 0; c < 120; ++c) problem.coefficient.push_back(std::exp(std::sin(static_cast<double>(7 * c))));
    const auto A = poisson_matrix(problem);
    for (const auto& space : box_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const BoxOperator<S> op(on, problem);
                VectorAlgebra<S> algebra(on);
                for (std::size_t column = 0; column < 120; ++column) {
                    std::vector<double> unit(120, 0.);
                    unit[column] = 1;
                    const auto in = to_space(on, unit);
                    Buffer<double, S> out(on, 120);
                    op.apply(algebra, in, out);
                    const auto got = to_host(out);
                    std::vector<double> wanted(120, 0.);
                    for (std::size_t row = 0; row < 120; ++row)
                        for (auto at = static_cast<std::size_t>(A.begin[row]); at < static_cast<std::size_t>(A.begin[row + 1]); ++at)
                            if (static_cast<std::size_t>(A.column[at]) == column) wanted[row] = A.value[at];
                    for (std::size_t row = 0; row < 120; ++row)
                        EXPECT_NEAR(got[row], wanted[row], 1e-13 * std::abs(A.value[0])) << row << ", " << column;
                }
            },
            space);
}

/// The cycle is symmetric and positive: u.Mv = v.Mu and u.Mu > 0, to the rounding of float.
TEST(BoxMultigrid, IsSymmetricAndPositive) {
    auto problem = box(13, 10, 9);
    problem.spacing[1] = {0.3};
    RandomStream random(3, 0);
    for (index_t c = 0; c < problem.rows(); ++c) problem.coefficient.push_back(random.uniform() < 0.5 ? 1 : 50);
    for (const auto& space : box_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const BoxOperator<S> A(on, problem);
                const BoxMultigrid<S> M(on, A, problem.singular());
                EXPECT_GT(M.grids().size(), 2u);
                VectorAlgebra<S> algebra(on);
                for (int pair = 0; pair < 5; ++pair) {
                    std::vector<double> first, second;
                    for (index_t c = 0; c < problem.rows(); ++c)
                        first.push_back(random.uniform() - 0.5), second.push_back(random.uniform() - 0.5);
                    const auto u = to_space(on, first), v = to_space(on, second);
                    Buffer<double, S> Mu(on, u.size()), Mv(on, u.size());
                    M.apply(algebra, u, Mu);
                    M.apply(algebra, v, Mv);
                    const double uu = algebra.dot(u, Mu), vv = algebra.dot(v, Mv);
                    EXPECT_GT(uu, 0);
                    EXPECT_NEAR(algebra.dot(u, Mv), algebra.dot(v, Mu), 1e-5 * std::sqrt(uu * vv));
                }
            },
            space);
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
    add("flat cells", 16, box(32, 32, 32)).spacing[2] = {0.1};
    add("long cells", 16, box(32, 32, 32)).spacing[0] = {20};
    add("uneven numbers of cells", 18, box(37, 18, 5));
    add("one line", 16, box(200, 1, 1)).boundary[0] = {BoundaryKind::dirichlet, 3};
    add("one layer", 16, box(40, 50, 1));
    for (auto& face : add("Dirichlet everywhere", 16, box(32, 32, 32)).boundary) face = {BoundaryKind::dirichlet, 1};
    auto& stretched = add("stretched cells", 25, box(32, 32, 32));
    stretched.spacing[0].clear();
    for (int i = 0; i < 32; ++i) stretched.spacing[0].push_back(std::pow(1.2, i));
    auto& layers = add("an insulating layer", 45, box(32, 32, 32));
    auto& checks = add("a checkerboard of blocks, 1 and 1000", 45, box(32, 32, 32));
    for (int c = 0; c < 32768; ++c) {
        const int i = c % 32, j = c / 32 % 32, k = c / 1024;
        layers.coefficient.push_back(k > 10 && k < 17 ? 1e-4 : 1);
        checks.coefficient.push_back((i / 8 + j / 8 + k / 8) % 2 ? 1000 : 1);
    }
    auto& closed = add("no Dirichlet face", 16, box(32, 32, 32));
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
    auto problem = box(20, 12, 9);
    problem.boundary[1] = {BoundaryKind::dirichlet, -3};
    problem.boundary[2] = {BoundaryKind::neumann, 0.5};
    const auto b = poisson_rhs(problem);
    SolverOptions options;
    options.rtol = 1e-12;
    Solver reference(Cpu{1}, poisson_matrix(problem).view(), options);
    EXPECT_LT(far(solved(Cpu{2}, problem, 1e-12).x, reference.solve(b)), 1e-10);
}

TEST(PoissonSolver, ResultsDoNotDependOnThreads) {
    const auto problem = box(40, 33, 29);
    const auto one = solved(Cpu{1}, problem);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(solved(Cpu{threads}, problem).x, one.x) << threads;
}

TEST(PoissonSolver, UnitsDoNotMatter) {
    const auto plain = solved(Cpu{1}, box(16, 16, 16));
    for (const double unit : {1e-100, 1e100}) {
        auto problem = box(16, 16, 16);
        for (double& value : problem.source) value *= unit;
        problem.coefficient.assign(4096, 1e-40);
        auto [x, log] = solved(Cpu{1}, problem);
        EXPECT_TRUE(log.converged()) << unit;
        for (double& value : x) value *= 1e-40 / unit;
        EXPECT_LT(far(x, plain.x), 1e-9) << unit;
    }
}

TEST(PoissonSolver, BeginsWithTheGivenGuessAndStopsWhereAsked) {
    const auto problem = box(32, 32, 32);
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
    const auto problem = box(4, 4, 4);
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
    for (const auto& problem : {box(32, 32, 32), box(512, 8, 8), box(4096, 1, 1)})
        EXPECT_LT(PoissonSolver(Cpu{1}, problem).setup().bytes + 56 * static_cast<std::uint64_t>(problem.rows()),
                  poisson_solver_memory(problem));
}

}  // namespace
}  // namespace kasane::sparse
