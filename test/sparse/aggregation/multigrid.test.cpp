// Multigrid by aggregation as the preconditioner of Solver: symmetry, iterations on systems of every kind, residuals by the definition,
// extreme matrices, new values, and refusals.
#include <bench/sparse/box_solution.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/multigrid_system.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include "sparse/aggregation/elasticity.hpp"
#include "sparse/box.hpp"
#include "sparse/order/graphs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<AnySpace> multigrid_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

std::vector<double> right_hand_side(index_t rows) {
    std::vector<double> b;
    for (index_t row = 0; row < rows; ++row) b.push_back(RandomStream(11, static_cast<std::uint64_t>(row)).uniform() - 0.5);
    return b;
}

double relative_residual(const CsrMatrix& A, const std::vector<double>& b, const std::vector<double>& x) {
    double r2 = 0, b2 = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        long double r = b[row];
        b2 += b[row] * b[row];
        for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
            r -= static_cast<long double>(A.value[e]) * x[static_cast<std::size_t>(A.column[e])];
        r2 += static_cast<double>(r * r);
    }
    return std::sqrt(r2 / b2);
}

SolverOptions by_aggregation(NearNullOptions near_null = {}) {
    SolverOptions options;
    options.precondition = Precondition::multigrid;
    options.near_null = std::move(near_null);
    options.iteration_limit = 400;
    return options;
}

struct System {
    std::string name;
    CsrMatrix A;
    int iterations;  ///< at most, to 1e-8; about 1.3 times what was measured
    NearNullOptions near_null = {};
};

PoissonProblem poisson_box(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    problem.source.assign(static_cast<std::size_t>(nx * ny * nz), 1.);
    return problem;
}

/// Coefficients of the cells of a box of 32^3.
template <class F>
CsrMatrix with_coefficient(F coefficient) {
    auto problem = poisson_box(32, 32, 32);
    for (int c = 0; c < 32768; ++c) problem.coefficient.push_back(coefficient(c % 32, c / 32 % 32, c / 1024));
    return poisson_matrix(problem);
}

/// The Laplacian of points in the unit square that are nearer than a radius, plus a small mass.
CsrMatrix geometric_graph(int n, double radius) {
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
        RandomStream random(8, static_cast<std::uint64_t>(i));
        x.push_back(random.uniform()), y.push_back(random.uniform());
    }
    Couplings pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (std::hypot(x[i] - x[j], y[i] - y[j]) < radius) pairs.emplace_back(static_cast<int>(i), static_cast<int>(j));
    auto A = matrix_of(n, pairs);
    for (auto& value : A.value)
        if (value > 0) value -= 0.01 - 1e-6;  // the diagonal is the number of neighbours + 1e-6
    return A;
}

std::vector<System> systems() {
    std::vector<System> all;
    auto sheet = poisson_box(200, 150, 1);
    sheet.boundary[0] = {BoundaryKind::dirichlet, 0}, sheet.boundary[5] = {BoundaryKind::neumann, 0};
    all.push_back({"2-D Poisson", poisson_matrix(sheet), 16});
    all.push_back({"3-D Poisson, 16^3", box_matrix({16, 16, 16}), 12});
    all.push_back({"3-D Poisson, 32^3", box_matrix({32, 32, 32}), 12});
    all.push_back({"3-D Poisson, 48^3", box_matrix({48, 48, 48}), 12});
    all.push_back({"one line", box_matrix({1, 1, 3000}), 19});
    auto flat = poisson_box(32, 32, 32);
    flat.spacing[2] = {0.1};
    all.push_back({"flat cells", poisson_matrix(flat), 15});
    auto stretched = poisson_box(32, 32, 32);
    stretched.spacing[0].clear();
    for (int i = 0; i < 32; ++i) stretched.spacing[0].push_back(std::pow(1.2, i));
    all.push_back({"stretched cells", poisson_matrix(stretched), 15});
    all.push_back({"layers of 1 and 1e-4", with_coefficient([](int, int, int k) { return k > 10 && k < 17 ? 1e-4 : 1; }), 13});
    all.push_back({"a checkerboard of blocks, 1 and 1000",
                   with_coefficient([](int i, int j, int k) { return (i / 8 + j / 8 + k / 8) % 2 ? 1000. : 1.; }), 12});
    all.push_back({"a normal logarithm of deviation 3", with_coefficient([](int i, int j, int k) {
                       RandomStream random(5, static_cast<std::uint64_t>(i + 32 * (j + 32 * k)));
                       return std::exp(3 * std::sqrt(-2 * std::log(random.uniform())) * std::cos(6.283185307179586 * random.uniform()));
                   }),
                   34});
    all.push_back({"Laplacian of a geometric graph", geometric_graph(4000, 0.03), 16});
    all.push_back({"a random graph", random_graph(3000, 9000, 3), 8});
    for (const int dim : {2, 3}) {
        auto body = elasticity(dim, dim == 2 ? std::array{60, 40, 0} : std::array{14, 10, 8});
        all.push_back({dim == 2 ? "2-D elasticity" : "3-D elasticity", body.A, dim == 2 ? 17 : 16, {body.rigid, body.modes, dim}});
    }
    return all;
}

TEST(AggregationMultigrid, ConvergesOnSystemsOfEveryKind) {
    for (const auto& [name, A, iterations, near_null] : systems())
        for (const auto& on : multigrid_spaces()) {
            Solver solver(on, A.view(), by_aggregation(near_null));
            const auto b = right_hand_side(A.rows());
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged()) << name;
            EXPECT_LE(log.iterations, iterations) << name;
            EXPECT_LE(relative_residual(A, b, x), 1.01e-8) << name;
            EXPECT_NEAR(log.true_residual, relative_residual(A, b, x), 1e-10) << name;
        }
}

TEST(AggregationMultigrid, FindsTheExactSolutionOfTheBox) {
    for (const auto& on : multigrid_spaces())
        for (const index_t n : {1, 2, 3, 7, 8, 31, 40}) {
            auto options = by_aggregation();
            options.rtol = 1e-11;
            Solver solver(on, box_matrix({n, n, n}).view(), options);
            const auto x = solver.solve(box_source({n, n, n})), exact = bench::box_solution(n);
            for (std::size_t c = 0; c < x.size(); ++c) ASSERT_NEAR(x[c], exact[c], 1e-8 * exact[0]) << n;
        }
}

std::vector<MultigridOptions> smoothers_and_cycles() {
    std::vector<MultigridOptions> all;
    for (const auto smoother : {Smoother::chebyshev, Smoother::gauss_seidel, Smoother::jacobi})
        for (const auto cycle : {Cycle::automatic, Cycle::v, Cycle::w, Cycle::k})
            for (const int steps : {1, 3}) all.push_back({smoother, steps, cycle});
    return all;
}

/// Bounds of iterations: about a third above those found (8 to 20 on the box, 9 to 24 on the graph).
TEST(AggregationMultigrid, EverySmootherAndCycleConverges) {
    for (const auto& A : {box_matrix({24, 24, 24}), geometric_graph(4000, 0.03)}) {
        const auto b = right_hand_side(A.rows());
        for (const auto& how : smoothers_and_cycles()) {
            const auto label = name(how.smoother) + ", " + std::to_string(how.steps) + ", " + name(how.cycle);
            std::vector<double> of_cpu;
            for (const auto& on : multigrid_spaces()) {
                auto options = by_aggregation();
                options.multigrid = how;
                Solver solver(on, A.view(), options);
                SolveLog log;
                const auto x = solver.solve(b, &log);
                EXPECT_TRUE(log.converged()) << label;
                EXPECT_LE(log.iterations, how.steps == 1 ? 32 : 20) << label;
                EXPECT_LE(relative_residual(A, b, x), 1.01e-8) << label;
                EXPECT_LE(solver.setup().bytes, memory_estimate(A.rows(), A.nonzeros(), options)) << label;
                if (!std::holds_alternative<Cpu>(on)) continue;
                if (of_cpu.empty()) of_cpu = x;
                EXPECT_EQ(x, of_cpu) << label << ": threads change nothing";
            }
        }
    }
}

TEST(AggregationMultigrid, MoreStepsAndVisitsSaveIterations) {
    const auto A = box_matrix({40, 40, 40});
    const auto iterations = [&](const MultigridOptions& how) {
        auto options = by_aggregation();
        options.multigrid = how;
        Solver solver(Cpu{2}, A.view(), options);
        SolveLog log;
        solver.solve(right_hand_side(A.rows()), &log);
        return log.iterations;
    };
    for (const auto smoother : {Smoother::chebyshev, Smoother::gauss_seidel, Smoother::jacobi}) {
        EXPECT_LT(iterations({smoother, 3, Cycle::v}), iterations({smoother, 1, Cycle::v})) << name(smoother);
        EXPECT_LE(iterations({smoother, 1, Cycle::w}), iterations({smoother, 1, Cycle::v})) << name(smoother);
        EXPECT_LE(iterations({smoother, 1, Cycle::k}), iterations({smoother, 1, Cycle::v})) << name(smoother);
    }
    auto wrong = by_aggregation();
    for (const int steps : {0, 11}) {
        wrong.multigrid.steps = steps;
        EXPECT_THROW(Solver(Cpu{1}, A.view(), wrong), InputError) << steps;
    }
    EXPECT_THROW(parse_smoother("gauss"), InputError);
    EXPECT_THROW(parse_cycle("f"), InputError);
    EXPECT_EQ(parse_smoother(name(Smoother::gauss_seidel)), Smoother::gauss_seidel);
    EXPECT_EQ(parse_cycle(name(Cycle::k)), Cycle::k);
}

/// Rows of one colour are not coupled, every row has a colour, and the colours are at most one more than the neighbours of a row.
TEST(AggregationMultigrid, ColoursSeparateCoupledRows) {
    for (const auto& A : {box_matrix({9, 8, 7}), star(3000, 40), complete(150), matrix_of(1, {})})
        for (const auto& space : multigrid_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    Rows<float, S> rows;
                    rows.rows = rows.columns = A.rows();
                    rows.begin = to_space(on, std::vector<std::uint32_t>(A.begin.begin(), A.begin.end()));
                    rows.column = to_space(on, A.column);
                    rows.value = Buffer<float, S>(on, A.nonzeros());
                    const auto colors = row_colors(on, rows.view());
                    const auto order = to_host(colors.row);
                    std::vector<int> color(order.size(), -1);
                    for (int c = 0; c < colors.count(); ++c)
                        for (index_t k = colors.begin[static_cast<std::size_t>(c)]; k < colors.begin[static_cast<std::size_t>(c) + 1]; ++k)
                            color[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = c;
                    index_t longest = 0;
                    for (std::size_t i = 0; i < color.size(); ++i) {
                        ASSERT_GE(color[i], 0);
                        longest = std::max(longest, A.begin[i + 1] - A.begin[i]);
                        for (auto e = A.begin[i]; e < A.begin[i + 1]; ++e) {
                            const auto j = static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)]);
                            EXPECT_TRUE(j == i || color[j] != color[i]) << i << ", " << j;
                        }
                    }
                    EXPECT_LE(colors.count(), longest);
                },
                space);
}

/// Rigid motions save iterations beside constants, as the theory of smoothed aggregation demands; without nodes they are more still.
TEST(AggregationMultigrid, RigidMotionsMatterForElasticity) {
    const auto body = elasticity(2, {60, 40, 0});
    const auto b = right_hand_side(body.A.rows());
    const auto iterations = [&](NearNullOptions near_null) {
        Solver solver(Cpu{2}, body.A.view(), by_aggregation(std::move(near_null)));
        SolveLog log;
        solver.solve(b, &log);
        EXPECT_TRUE(log.converged());
        return log.iterations;
    };
    const int rigid = iterations({body.rigid, body.modes, 2}), constants = iterations({{}, 1, 2}), none = iterations({});
    EXPECT_LT(1.2 * rigid, constants);
    EXPECT_LT(constants, none);
}

/// u.Mv = v.Mu and u.Mu > 0, to the rounding of float, which grows with the condition number: 6e-8 of a box, 6e-6 of a sheet, 6e-4 of a
/// line of 3000 cells.
void expect_symmetric_and_positive(const MultigridOptions& how, double rounding, const std::vector<std::string>& but = {}) {
    for (const auto& [name, A, iterations, near_null] : systems()) {
        if (std::ranges::find(but, name) != but.end()) continue;
        for (const auto& space : multigrid_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    Rows<double, S> rows;
                    rows.rows = rows.columns = A.rows();
                    rows.begin = to_space(on, std::vector<std::uint32_t>(A.begin.begin(), A.begin.end()));
                    rows.column = to_space(on, A.column);
                    rows.value = to_space(on, A.value);
                    NearNull<S> null;
                    const bool given = !near_null.vectors.empty();
                    null.vectors = to_space(on, given ? near_null.vectors : std::vector<double>(static_cast<std::size_t>(A.rows()), 1.));
                    null.count = near_null.count, null.rows_per_node = near_null.rows_per_node;
                    const AggregationMultigrid<S> M(on, rows.view(), std::move(null), false, how);
                    EXPECT_GT(M.levels().size(), 1u) << name;
                    VectorAlgebra<S> algebra(on);
                    for (std::uint64_t pair = 0; pair < 3; ++pair) {
                        std::vector<double> first, second;
                        for (index_t c = 0; c < A.rows(); ++c) {
                            RandomStream random(pair, static_cast<std::uint64_t>(c));
                            first.push_back(random.uniform() - 0.5), second.push_back(random.uniform() - 0.5);
                        }
                        const auto u = to_space(on, first), v = to_space(on, second);
                        Buffer<double, S> Mu(on, u.size()), Mv(on, u.size());
                        M.apply(algebra, u, Mu);
                        M.apply(algebra, v, Mv);
                        const double uu = algebra.dot(u, Mu), vv = algebra.dot(v, Mv);
                        EXPECT_GT(uu, 0) << name;
                        EXPECT_GT(vv, 0) << name;
                        EXPECT_NEAR(algebra.dot(u, Mv), algebra.dot(v, Mu), rounding * std::sqrt(uu * vv)) << name;
                    }
                },
                space);
    }
}

TEST(AggregationMultigrid, IsSymmetricAndPositive) { expect_symmetric_and_positive({}, 1e-4); }

TEST(AggregationMultigrid, IsSymmetricAndPositiveWithOtherSmoothers) {
    const std::vector<std::string> badly_conditioned{"one line", "layers of 1 and 1e-4"};
    expect_symmetric_and_positive({Smoother::gauss_seidel, 2, Cycle::w}, 1e-5, badly_conditioned);
    expect_symmetric_and_positive({Smoother::jacobi, 1, Cycle::v}, 1e-5, badly_conditioned);
}

/// Each level is P^T A P of the one before, to the rounding of float, and has a diagonal of 1.
TEST(AggregationMultigrid, LevelsAreGalerkinProducts) {
    const auto A = box_matrix({13, 12, 11});
    const auto system = prepare_multigrid(Cpu{2}, A.view(), A.nonzeros(), by_aggregation(), false);
    const auto& M = *system.M;
    ASSERT_GE(M.levels().size(), 2u);
    for (std::size_t level = 0; level + 1 < M.levels().size(); ++level) {
        const auto fine = M.matrix(level), coarse = M.matrix(level + 1), P = M.prolongator(level);
        std::vector<double> x(static_cast<std::size_t>(coarse.rows)), Px(static_cast<std::size_t>(fine.rows)), APx(Px);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<double>(i));
        for (index_t row = 0; row < fine.rows; ++row) Px[static_cast<std::size_t>(row)] = P.times(row, x.data());
        for (index_t row = 0; row < fine.rows; ++row) APx[static_cast<std::size_t>(row)] = fine.times(row, Px.data());
        std::vector<double> wanted(x.size(), 0.);
        for (index_t row = 0; row < fine.rows; ++row)
            for (auto e = P.begin[row]; e < P.begin[row + 1]; ++e)
                wanted[static_cast<std::size_t>(P.column[e])] += static_cast<double>(P.value[e]) * APx[static_cast<std::size_t>(row)];
        for (index_t row = 0; row < coarse.rows; ++row) {
            EXPECT_NEAR(coarse.times(row, x.data()), wanted[static_cast<std::size_t>(row)], 2e-6) << level << ", " << row;
            for (auto e = coarse.begin[row]; e < coarse.begin[row + 1]; ++e)
                if (coarse.column[e] == row) {
                    EXPECT_NEAR(static_cast<double>(coarse.value[e]), 1, 1e-6);
                }
        }
    }
}

TEST(AggregationMultigrid, ResultsDoNotDependOnThreads) {
    for (const auto& [name, A, iterations, near_null] : systems()) {
        const auto b = right_hand_side(A.rows());
        Solver one(Cpu{1}, A.view(), by_aggregation(near_null));
        const auto x = one.solve(b);
        Solver several(Cpu{3}, A.view(), by_aggregation(near_null));
        EXPECT_EQ(several.solve(b), x) << name;
    }
}

TEST(AggregationMultigrid, SolvesExtremeMatrices) {
    std::vector<std::pair<std::string, CsrMatrix>> all = {
        {"one row", matrix_of(1, {})}, {"a diagonal", matrix_of(700, {})}, {"two rows", matrix_of(2, {{0, 1}})},
        {"a hub", star(5000, 77)},     {"all coupled", complete(700)},     {"parts that are not connected", random_graph(3000, 1500, 6)}};
    auto scales = box_matrix({12, 12, 12});  // D A D with D from 1e-3 to 1e3
    for (std::size_t row = 0; row < 1728; ++row)
        for (auto e = static_cast<std::size_t>(scales.begin[row]); e < static_cast<std::size_t>(scales.begin[row + 1]); ++e)
            scales.value[e] *= std::pow(10., static_cast<double>(row % 3) * 3 - 3) * std::pow(10., scales.column[e] % 3 * 3 - 3);
    all.emplace_back("rows of different units", scales);
    for (const auto& [name, A] : all)
        for (const auto& on : multigrid_spaces()) {
            Solver solver(on, A.view(), by_aggregation());
            const auto b = right_hand_side(A.rows());
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged()) << name << ": " << krylov::name(log.end);
            EXPECT_LE(relative_residual(A, b, x), 1.1e-8) << name;
        }
}

TEST(AggregationMultigrid, SolvesSingularSystemsForTheMeanFreeSolution) {
    auto closed = poisson_box(20, 20, 20);
    for (auto& face : closed.boundary) face = {BoundaryKind::neumann, 0};
    const auto A = poisson_matrix(closed);
    auto b = right_hand_side(8000);
    double mean = 0;
    for (const double value : b) mean += value / 8000;
    for (double& value : b) value -= mean;
    for (const auto& on : multigrid_spaces()) {
        Solver solver(on, A.view(), by_aggregation());
        EXPECT_TRUE(solver.setup().singular);
        SolveLog log;
        const auto x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged());
        EXPECT_LE(log.iterations, 16);
        EXPECT_LE(relative_residual(A, b, x), 1.1e-8);
        double sum = 0;
        for (const double value : x) sum += value;
        EXPECT_NEAR(sum, 0, 1e-9 * 8000);
        // One that is outside the range is not solved.
        auto outside = b;
        for (double& value : outside) value += 0.1;
        solver.solve(outside, &log);
        EXPECT_EQ(log.end, krylov::Outcome::stagnated);
        EXPECT_GT(log.outside_range, 0.1);
    }
}

TEST(AggregationMultigrid, UnitsDoNotMatter) {
    const auto A = box_matrix({16, 16, 16});
    const auto b = right_hand_side(A.rows());
    const auto x = Solver(Cpu{1}, A.view(), by_aggregation()).solve(b);
    for (const double unit : {0x1p-300, 0x1p300}) {
        auto other = A;
        for (double& value : other.value) value *= unit;
        SolveLog log;
        const auto y = Solver(Cpu{1}, other.view(), by_aggregation()).solve(b, &log);
        EXPECT_TRUE(log.converged()) << unit;
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i] * unit, x[i], 1e-6);
    }
}

/// New values on the same pattern give the cycle of a system that was set up with these aggregates.
TEST(AggregationMultigrid, TakesNewValuesWithTheOldAggregates) {
    const auto A = box_matrix({20, 18, 16});
    auto changed = A;
    for (std::size_t row = 0; row < static_cast<std::size_t>(A.rows()); ++row)
        for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e) changed.value[e] *= 5;
    auto system = prepare_multigrid(Cpu{2}, A.view(), A.nonzeros(), by_aggregation(), false);
    const auto fresh = prepare_multigrid(Cpu{2}, changed.view(), A.nonzeros(), by_aggregation(), false);
    update_multigrid(system, changed.view());
    VectorAlgebra<Cpu> algebra(Cpu{2});
    const auto u = to_space(Cpu{2}, right_hand_side(A.rows()));
    Buffer<double, Cpu> updated(Cpu{2}, u.size()), wanted(Cpu{2}, u.size());
    system.M->apply(algebra, u, updated);
    fresh.M->apply(algebra, u, wanted);
    const double norm = std::sqrt(algebra.dot(wanted, wanted));
    algebra.axpby(1, wanted, -1, updated);
    EXPECT_LT(std::sqrt(algebra.dot(updated, updated)), 1e-5 * norm);
}

/// The rule takes multigrid where information must travel far, also with nodes of several rows, and others where it need not.
TEST(AggregationMultigrid, IsChosenByTheRuleForLongWays) {
    auto damped = box_matrix({1, 1, 5000});
    for (std::size_t row = 0; row < 5000; ++row)
        for (auto e = static_cast<std::size_t>(damped.begin[row]); e < static_cast<std::size_t>(damped.begin[row + 1]); ++e)
            if (damped.column[e] == static_cast<std::int32_t>(row)) damped.value[e] += 1;
    PoissonProblem flat;
    flat.cells = {24, 24, 24};
    flat.spacing[2] = {0.1};
    // 250 iterations of ICCG, with one coefficient and with one that varies from cell to cell by a standard deviation of 1.7 of its
    // logarithm.
    auto rough = poisson_box(20, 20, 160);
    const auto smooth = rough;
    rough.coefficient.resize(static_cast<std::size_t>(20 * 20 * 160));
    for (std::size_t cell = 0; cell < rough.coefficient.size(); ++cell)
        rough.coefficient[cell] = std::exp(6 * RandomStream(7, cell).uniform());
    auto options = by_aggregation();
    options.precondition = Precondition::automatic;
    for (const auto& [A, chosen] : {std::pair{box_matrix({1, 1, 5000}), "multigrid"},
                                    {poisson_matrix(smooth), "multigrid"},
                                    {poisson_matrix(rough), "ic0"},
                                    {damped, "ic0"},
                                    {box_matrix({10, 10, 10}), "ic0"},
                                    {poisson_matrix(flat), "ick"},
                                    {random_graph(4000, 12000, 3), "jacobi"},
                                    {elasticity(2, {20, 20, 0}).A, "ssor"},
                                    {elasticity(2, {300, 4, 0}).A, "multigrid"}}) {
        Solver solver(Cpu{2}, A.view(), options);
        EXPECT_EQ(solver.setup().precondition, chosen);
        EXPECT_NE(solver.setup().notes.at(0).find("was chosen"), std::string::npos);
        EXPECT_EQ(solver.options().precondition, Precondition::automatic);
        const auto b = right_hand_side(A.rows());
        solver.set_tolerance(1e-8, 10000);
        SolveLog log;
        EXPECT_LE(relative_residual(A, b, solver.solve(b, &log)), 1.1e-8);
    }
}

/// On a device multigrid pays for easier systems, from some number of rows on.
TEST(AggregationMultigrid, IsChosenByTheRuleOfDevices) {
    EXPECT_EQ(precondition_by_rule(box_matrix({60, 60, 60}).view(), true).kind, Precondition::multigrid);
    EXPECT_EQ(precondition_by_rule(box_matrix({60, 60, 60}).view(), false).kind, Precondition::multigrid);
    EXPECT_EQ(precondition_by_rule(box_matrix({1, 500, 500}).view(), true).kind, Precondition::multigrid);
    EXPECT_EQ(precondition_by_rule(box_matrix({50, 50, 50}).view(), true).kind, Precondition::ic0);
    EXPECT_EQ(precondition_by_rule(random_graph(220000, 660000, 3).view(), true).kind, Precondition::ic0);
}

TEST(AggregationMultigrid, StopsWhereAskedAndReportsLevels) {
    const auto A = box_matrix({24, 24, 24});
    const auto b = right_hand_side(A.rows());
    Solver solver(Cpu{2}, A.view(), by_aggregation());
    std::vector<double> x(b.size(), 0.);
    const auto log = solver.solve(view(b), view(x), [](int iteration, double) { return iteration == 3; });
    EXPECT_EQ(log.end, krylov::Outcome::stopped);
    EXPECT_EQ(log.iterations, 3);
    EXPECT_EQ(log.history.size(), 4u);
    EXPECT_TRUE(solver.go_on(view(b), view(x)).converged());
    solver.set_tolerance(1e-3, 100);
    std::vector<double> y(b.size(), 0.);
    const auto loose = solver.solve(view(b), view(y));
    EXPECT_TRUE(loose.converged());
    EXPECT_LT(loose.iterations, 8);
    const auto& facts = solver.setup();
    EXPECT_EQ(facts.precondition, "multigrid");
    EXPECT_EQ(facts.rows, A.rows());
    EXPECT_GT(facts.stored_entries, A.nonzeros());
    EXPECT_LT(facts.stored_entries, 2 * A.nonzeros());
    EXPECT_LT(facts.bytes, memory_estimate(A.rows(), A.nonzeros(), by_aggregation()));
}

TEST(AggregationMultigrid, RefusesNearNullVectorsThatDoNotFit) {
    const auto A = box_matrix({5, 5, 5});
    const auto refused = [&](NearNullOptions near_null, const std::string& word) {
        try {
            Solver(Cpu{1}, A.view(), by_aggregation(std::move(near_null)));
            FAIL() << word;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    };
    refused({{}, 1, 2}, "does not divide the 125 rows");
    refused({std::vector<double>(124, 1.), 1, 1}, "need 125");
    refused({std::vector<double>(125, std::numeric_limits<double>::quiet_NaN()), 1, 1}, "not finite");
    refused({{}, 0, 1}, "between 1 and 64");
    refused({{}, 1, 0}, "between 1 and 64");
}

}  // namespace
}  // namespace kasane::sparse
