// The matrices of sparse.matrices: the triangulation against its definition, and that auto solves all of them.
#include <bench/sparse/matrices/matrices.hpp>
#include <bench/sparse/matrices/triangulation.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using namespace sparse;

TEST(RandomTriangulation, CirclesAreEmptyAndTrianglesCoverTheSquareOnce) {
    const auto mesh = random_triangulation(14, 5);
    double area = 0;
    for (const auto& corner : mesh.triangle) {
        const auto at = [&](std::size_t k) { return mesh.point[static_cast<std::size_t>(corner[k])]; };
        const double ax = at(0)[0], ay = at(0)[1], bx = at(1)[0] - ax, by = at(1)[1] - ay, cx = at(2)[0] - ax, cy = at(2)[1] - ay;
        const double twice = bx * cy - by * cx;
        EXPECT_GT(twice, 0) << "counterclockwise";
        area += twice / 2;
        // Circumcentre from the two perpendicular bisectors.
        const double b2 = bx * bx + by * by, c2 = cx * cx + cy * cy;
        const double x = (cy * b2 - by * c2) / (2 * twice), y = (bx * c2 - cx * b2) / (2 * twice), radius = std::hypot(x, y);
        for (const auto& p : mesh.point) EXPECT_GT(std::hypot(p[0] - ax - x, p[1] - ay - y), radius * (1 - 1e-9));
    }
    // All but a border of at most one mean distance on each side is covered, and nothing twice.
    EXPECT_LT(area, 1);
    EXPECT_GT(area, 12. / 14 * 12. / 14);
}

TEST(TestMatrices, AutoSolvesAllToTheTrueResidual) {
    int unstructured = 0;
    const auto all = test_matrices();
    EXPECT_EQ(all.size(), 10u);
    for (const auto& kind : all) {
        SCOPED_TRACE(kind.name);
        unstructured += kind.unstructured;
        const CsrMatrix A = kind.make(3000);
        EXPECT_GT(A.rows(), 2000);
        const auto found = kind_of(A.view());
        EXPECT_EQ(found.symmetric, kind.symmetric);
        EXPECT_EQ(found.positive, kind.symmetric);
        std::vector<double> b(static_cast<std::size_t>(A.rows())), x;
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i * i % 1009));
        SolveLog log;
        if (found.positive) {
            SolverOptions options;
            options.precondition = Precondition::automatic;
            x = Solver(Cpu{2}, A.view(), options).solve(b, &log);
        } else {
            x = GeneralSolver(Cpu{2}, A.view()).solve(b, &log);
        }
        EXPECT_TRUE(log.converged());
        double r2 = 0, b2 = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            double r = b[i];
            for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
                r -= A.value[static_cast<std::size_t>(e)] * x[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])];
            r2 += r * r, b2 += b[i] * b[i];
        }
        EXPECT_LE(std::sqrt(r2 / b2), 1.001e-8);
    }
    EXPECT_GE(unstructured, 5);
}

/// BiCGStab and GMRES with ilu0 break down and stagnate there, so that ilut must be the first choice.
TEST(TestMatrices, AutoSolvesConvectionOnALargeMesh) {
    for (const auto& kind : test_matrices()) {
        if (kind.name != "mesh, convection") continue;
        const CsrMatrix A = kind.make(100'000);
        std::vector<double> b(static_cast<std::size_t>(A.rows()));
        RandomStream random(1, 0);
        for (auto& one : b) one = 2 * random.uniform() - 1;
        SolveLog log;
        GeneralSolver solver(Cpu{2}, A.view());
        solver.solve(b, &log);
        EXPECT_TRUE(log.converged()) << krylov::name(log.end) << " " << log.true_residual;
        EXPECT_EQ(solver.setup().precondition, "ilut") << "the first one";
        for (const auto& note : log.notes) EXPECT_EQ(note.find("follows"), std::string::npos) << note;
    }
}

/// Their largest eigenvalues belong to vectors on a few rows, which a smoother must bound as well.
TEST(TestMatrices, MultigridIsPositiveWhereLargestEigenvectorsAreLocalised) {
    for (const auto& kind : test_matrices()) {
        if (kind.name != "mesh, diffusion" && kind.name != "graph, geometric") continue;
        for (const index_t size : {30'000, 40'000}) {
            SCOPED_TRACE(kind.name + ", " + std::to_string(size));
            const CsrMatrix A = kind.make(size);
            SolverOptions options;
            options.precondition = Precondition::multigrid;
            options.iteration_limit = 100;
            std::vector<double> b(static_cast<std::size_t>(A.rows()));
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i * i % 1009));
            SolveLog log;
            Solver(Cpu{2}, A.view(), options).solve(b, &log);
            EXPECT_EQ(log.end, krylov::Outcome::converged) << krylov::name(log.end);
            EXPECT_LE(log.iterations, 25) << "1.3 times what was measured";
        }
    }
}

}  // namespace
}  // namespace kasane::bench
