// Robin and periodic faces, and values that vary over a face: entries by hand, and solutions that the scheme holds exactly.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/poisson/fields.hpp>
#include <test/reference/dense_lu.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

PoissonProblem closed_box(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    problem.boundary = {};
    return problem;
}

void make_periodic(PoissonProblem& problem, std::size_t direction) {
    problem.boundary[2 * direction].kind = problem.boundary[2 * direction + 1].kind = BoundaryKind::periodic;
}

void expect_equal(const Field& a, const Field& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
    EXPECT_LE(worst, tolerance);
}

TEST(PoissonBoundaries, RobinFacesAreResistancesInSeries) {
    // A wall of thickness 3 and coefficient 2 between media of 20 and -5: q = 25 / (1/h0 + 3/2 + 1/h1).
    auto problem = closed_box(1, 1, 4);
    problem.spacing[2] = {0.5, 1, 0.25, 1.25};
    problem.coefficient.assign(4, 2.);
    problem.source.assign(4, 0.);
    constexpr double h0 = 8, h1 = 0.4;
    problem.boundary[4] = {BoundaryKind::robin, 20, h0};
    problem.boundary[5] = {BoundaryKind::robin, -5, h1};
    EXPECT_FALSE(problem.singular());
    const double q = 25 / (1 / h0 + 3 / 2. + 1 / h1);
    expect_equal(solve(problem), centre_values(problem, [&](double, double, double z) { return 20 - q / h0 - q / 2 * z; }), 1e-10);
    // Multigrid takes the same faces.
    PoissonSolver multigrid(Cpu{1}, problem, {.rtol = 1e-12});
    Field phi(4, 0.);
    const auto b = poisson_rhs(problem);
    EXPECT_TRUE(multigrid.solve(view(b), view(phi)).converged());
    expect_equal(phi, solve(problem), 1e-9);
}

TEST(PoissonBoundaries, RobinBecomesDirichletAndNeumann) {
    auto problem = closed_box(5, 4, 3);
    problem.source = source_of(problem, "i - j*k");
    problem.boundary[0] = {BoundaryKind::dirichlet, 3};
    problem.boundary[3] = {BoundaryKind::dirichlet, -1};
    const auto fixed = solve(problem);
    problem.boundary[3] = {BoundaryKind::robin, -1, 1e14};
    expect_equal(solve(problem), fixed, 1e-7);
    problem.boundary[3] = {};
    const auto closed = solve(problem);
    problem.boundary[3] = {BoundaryKind::robin, -1, 1e-14};
    expect_equal(solve(problem), closed, 1e-7);
}

TEST(PoissonBoundaries, PeriodicChainIsCirculant) {
    auto problem = closed_box(4, 1, 1);
    make_periodic(problem, 0);
    const auto A = poisson_matrix(problem);
    EXPECT_EQ(A.nonzeros(), poisson_nonzeros(problem));
    EXPECT_EQ(A.column, (std::vector<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3}));
    EXPECT_EQ(A.value, (Field{2, -1, -1, -1, 2, -1, -1, 2, -1, -1, -1, 2}));
    EXPECT_TRUE(problem.singular());
}

TEST(PoissonBoundaries, PeriodicMatricesAreSymmetricWithRowsThatSumToZero) {
    for (const int directions : {1, 2, 3, 4, 5, 6, 7}) {
        auto problem = closed_box(5, 3, 4);
        problem.spacing = {Field{1, 0.3, 2, 0.7, 1.1}, Field{0.5, 1.5, 1}, Field{1, 2, 0.25, 3}};
        for (int i = 0; i < 60; ++i) problem.coefficient.push_back(1 + 0.9 * std::sin(1.7 * i));
        for (std::size_t d = 0; d < 3; ++d)
            if (directions >> d & 1) make_periodic(problem, d);
        const auto A = poisson_matrix(problem);
        ASSERT_EQ(A.nonzeros(), poisson_nonzeros(problem));
        ASSERT_EQ(std::ssize(A.value), A.nonzeros());
        std::map<std::pair<index_t, index_t>, double> all;
        for (index_t row = 0; row < 60; ++row) {
            double sum = 0;
            for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e) {
                const auto place = static_cast<std::size_t>(e);
                if (e > A.begin[static_cast<std::size_t>(row)]) {
                    ASSERT_LT(A.column[place - 1], A.column[place]);
                }
                all[{row, A.column[place]}] = A.value[place];
                sum += A.value[place];
            }
            EXPECT_NEAR(sum, 0, 1e-13);
        }
        for (const auto& [place, value] : all) EXPECT_EQ(value, (all[{place.second, place.first}]));
        // Every pair of opposite cells is coupled where the direction is periodic, by two half cells in series.
        EXPECT_EQ(all.contains({0, 4}), directions & 1);
        EXPECT_EQ(all.contains({0, 10}), directions >> 1 & 1);
        EXPECT_EQ(all.contains({0, 45}), directions >> 2 & 1);
        if (directions & 1) {
            const double area = 0.5 * 1, resistance = 1 / (2 * problem.coefficient[0]) + 1.1 / (2 * problem.coefficient[4]);
            EXPECT_NEAR((all[{0, 4}]), -area / resistance, 1e-15);
        }
    }
}

TEST(PoissonBoundaries, WavesAreEigenvectorsOfAPeriodicBox) {
    // On n equal cells of width h a wave of k periods has the eigenvalue (2 - 2 cos(2 pi k / n)) S / h.
    auto problem = closed_box(12, 8, 7);
    problem.spacing = {Field{0.5}, Field{2}, Field{1}};
    for (const std::size_t d : {0, 1, 2}) make_periodic(problem, d);
    constexpr double pi = std::numbers::pi;
    const auto wave = centre_values(
        problem, [&](double x, double y, double z) { return std::sin(2 * pi * (2 * x / 6 + 3 * y / 16)) + std::cos(2 * pi * z / 7); });
    problem.source = wave;
    const auto eigenvalue = [&](double k, double n, double h) { return (2 - 2 * std::cos(2 * pi * k / n)) / (h * h); };
    const double both = eigenvalue(2, 12, 0.5) + eigenvalue(3, 8, 2), along_z = eigenvalue(1, 7, 1);
    expect_equal(solve(problem),
                 centre_values(problem,
                               [&](double x, double y, double z) {
                                   return std::sin(2 * pi * (2 * x / 6 + 3 * y / 16)) / both + std::cos(2 * pi * z / 7) / along_z;
                               }),
                 1e-9);
}

TEST(PoissonBoundaries, APeriodicProblemMovesWithItsSource) {
    auto problem = closed_box(6, 5, 4);
    make_periodic(problem, 0);
    problem.boundary[4] = {BoundaryKind::dirichlet, 1};
    problem.source = source_of(problem, "i == 2 && j == 3 && k == 2 ? 1 : 0");
    const auto phi = solve(problem);
    problem.source = source_of(problem, "i == 6 && j == 3 && k == 2 ? 1 : 0");
    const auto moved = solve(problem);
    Field expected;
    for (std::size_t row = 0; row < phi.size(); ++row) expected.push_back(phi[row / 6 * 6 + (row % 6 + 2) % 6]);  // cell i + 4 came from i
    expect_equal(moved, expected, 1e-10);
    expect_equal(phi,
                 reference::lu_solve(poisson_matrix(problem),
                                     [&] {
                                         auto before = problem;
                                         before.source = source_of(before, "i == 2 && j == 3 && k == 2 ? 1 : 0");
                                         return poisson_rhs(before);
                                     }()),
                 1e-10);
}

TEST(PoissonBoundaries, APeriodicBoxNeedsSourcesThatBalance) {
    auto problem = closed_box(3, 3, 3);
    for (const std::size_t d : {0, 1, 2}) make_periodic(problem, d);
    problem.source.assign(27, 1.);
    const auto A = poisson_matrix(problem);
    Solver solver(Cpu{1}, A.view());
    EXPECT_TRUE(solver.setup().singular);
    SolveLog log;
    solver.solve(poisson_rhs(problem), &log);
    EXPECT_FALSE(log.converged());
    EXPECT_GT(log.outside_range, 0.5);
}

TEST(PoissonBoundaries, FormulasHoldABilinearSolutionOnEveryKindOfFace) {
    // phi = x y + 2 z is linear along each line, so that the scheme holds it exactly for any widths.
    auto problem = closed_box(4, 5, 3);
    problem.spacing = {Field{1, 0.5, 2, 0.25}, Field{0.3}, Field{1, 2, 0.5}};
    problem.source.assign(60, 0.);
    const std::string phi = "x*y + 2*z";
    problem.boundary[0] = {BoundaryKind::dirichlet, 0, 0, phi};
    problem.boundary[1] = {BoundaryKind::neumann, 0, 0, "-y"};
    problem.boundary[2] = {BoundaryKind::dirichlet, 0, 0, phi};
    problem.boundary[3] = {BoundaryKind::robin, 0, 4, phi + " + x/4"};
    problem.boundary[4] = {BoundaryKind::robin, 0, 0.5, phi + " - 2/0.5"};
    problem.boundary[5] = {BoundaryKind::neumann, -2};
    const auto exact = centre_values(problem, [](double x, double y, double z) { return x * y + 2 * z; });
    expect_equal(solve(problem), exact, 1e-9);
    PoissonSolver multigrid(Cpu{2}, problem, {.rtol = 1e-12});
    Field by_multigrid(60, 0.);
    const auto b = poisson_rhs(problem);
    EXPECT_TRUE(multigrid.solve(view(b), view(by_multigrid)).converged());
    expect_equal(by_multigrid, exact, 1e-9);
    // The order of values: the lower of the two other directions fastest; i j k are the cells after the face.
    problem.boundary[3].formula = "100*i + 10*j + k";
    const auto values = face_values(problem, 3);
    ASSERT_EQ(values.size(), 12u);
    EXPECT_EQ(values[0], 151);
    EXPECT_EQ(values[1], 251);
    EXPECT_EQ(values[4], 152);
    EXPECT_EQ(face_values(problem, 5), Field(20, -2.));
}

TEST(PoissonBoundaries, RefusesFacesThatCannotBe) {
    const auto refused = [](const std::function<void(PoissonProblem&)>& change, const std::string& key, const std::string& words) {
        auto problem = closed_box(3, 3, 2);
        problem.source.assign(18, 0.);
        change(problem);
        try {
            poisson_rhs(problem);
            ADD_FAILURE() << "not refused: " << words;
        } catch (const InputError& error) {
            EXPECT_EQ(error.problems()[0].where.key, key);
            EXPECT_NE(error.problems()[0].message.find(words), std::string::npos) << error.what();
        }
    };
    for (const double transfer : {0., -1., 1e200, std::nan("")})
        refused([&](auto& p) { p.boundary[1] = {BoundaryKind::robin, 1, transfer}; }, "x_max", "transfer");
    refused([](auto& p) { p.boundary[2].kind = BoundaryKind::periodic; }, "y_min", "y_max is not");
    refused([](auto& p) { make_periodic(p, 2); }, "z_min", "at least 3 are needed");
    refused([](auto& p) { p.boundary[0] = {BoundaryKind::dirichlet, 0, 0, "x +"}; }, "x_min", "formula");
    refused([](auto& p) { p.boundary[0] = {BoundaryKind::dirichlet, 0, 0, "1/x"}; }, "x_min", "finite on the whole face");
    refused([](auto& p) { p.boundary[0] = {BoundaryKind::robin, std::nan(""), 1}; }, "x_min", "not finite");
}

}  // namespace
