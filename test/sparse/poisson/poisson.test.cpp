// The finite-volume Poisson problem: the matrix entry by entry on boxes computed by hand, and solutions known in closed form.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <gtest/gtest.h>
#include <sparse/poisson/fields.hpp>
#include <test/reference/box_poisson.hpp>
#include <test/reference/dense_cholesky.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using std::size_t;

std::map<std::pair<index_t, index_t>, double> entries(const CsrMatrix& A) {
    std::map<std::pair<index_t, index_t>, double> all;
    for (index_t row = 0; row < A.rows(); ++row)
        for (auto e = A.begin[static_cast<size_t>(row)]; e < A.begin[static_cast<size_t>(row) + 1]; ++e)
            all[{row, A.column[static_cast<size_t>(e)]}] = A.value[static_cast<size_t>(e)];
    return all;
}

/// Columns ascend, the triangles are equal bit by bit, and the counts are those of the box.
void expect_canonical_and_symmetric(const PoissonProblem& problem, const CsrMatrix& A) {
    ASSERT_EQ(A.rows(), problem.rows());
    ASSERT_EQ(A.nonzeros(), poisson_nonzeros(problem));
    ASSERT_EQ(std::ssize(A.column), A.nonzeros());
    ASSERT_EQ(std::ssize(A.value), A.nonzeros());
    for (index_t row = 0; row < A.rows(); ++row)
        for (auto e = A.begin[static_cast<size_t>(row)] + 1; e < A.begin[static_cast<size_t>(row) + 1]; ++e)
            ASSERT_LT(A.column[static_cast<size_t>(e) - 1], A.column[static_cast<size_t>(e)]) << row;
    const auto all = entries(A);
    ASSERT_EQ(std::ssize(all), A.nonzeros());
    for (const auto& [place, value] : all) {
        const auto mirrored = all.find({place.second, place.first});
        ASSERT_NE(mirrored, all.end());
        ASSERT_EQ(value, mirrored->second);
        ASSERT_EQ(value > 0, place.first == place.second);
    }
}

PoissonProblem box(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    return problem;
}

void set_source(PoissonProblem& problem, const std::string& formula) { problem.source = source_of(problem, formula); }

TEST(Poisson, AssemblesTwoCubedUnitCells) {
    // Each cell has three neighbours; the upper layer has the face phi = 0 at half a cell, with twice the conductance.
    const auto problem = box(2, 2, 2);
    const auto A = poisson_matrix(problem);
    expect_canonical_and_symmetric(problem, A);
    const auto all = entries(A);
    EXPECT_EQ(A.nonzeros(), 8 + 24);
    for (const auto& [place, value] : all) {
        const auto [row, column] = place;
        if (row == column)
            EXPECT_EQ(value, row < 4 ? 3 : 5) << row;
        else
            EXPECT_EQ(value, -1);
    }
    for (const index_t step : {1, 2, 4}) EXPECT_TRUE(all.contains({0, step}));
    EXPECT_FALSE(all.contains({0, 3}));
}

TEST(Poisson, AssemblesDegenerateBoxes) {
    const auto one = poisson_matrix(box(1, 1, 1));
    EXPECT_EQ(one.begin, (std::vector<index_t>{0, 1}));
    EXPECT_EQ(one.value, (std::vector<double>{2}));
    const auto line = poisson_matrix(box(1, 4, 1));  // every cell has its own face on z_max
    EXPECT_EQ(line.begin, (std::vector<index_t>{0, 2, 5, 8, 10}));
    EXPECT_EQ(line.column, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2, 3, 2, 3}));
    EXPECT_EQ(line.value, (std::vector<double>{3, -1, -1, 4, -1, -1, 4, -1, -1, 3}));
    for (const auto& cells : {std::array<index_t, 3>{7, 1, 1}, {1, 7, 1}, {1, 1, 7}, {3, 1, 5}, {1, 4, 5}, {4, 5, 1}, {5, 6, 7}}) {
        const auto problem = box(cells[0], cells[1], cells[2]);
        expect_canonical_and_symmetric(problem, poisson_matrix(problem));
    }
}

TEST(Poisson, ConductsByAreaDistanceAndCoefficient) {
    // Two cells along x, 1 and 3 wide, 2 deep and 5 high, of coefficients 2 and 6; phi = 7 on x_min, flux 0.5 out of x_max.
    auto problem = box(2, 1, 1);
    problem.spacing = {{{1, 3}, {2}, {5}}};
    problem.coefficient = {2, 6};
    problem.boundary = {};
    problem.boundary[0] = {BoundaryKind::dirichlet, 7};
    problem.boundary[1] = {BoundaryKind::neumann, 0.5};
    problem.source = {11, 13};
    // Area 10; half cells resist 1/(2*2) = 1/4 and 3/(2*6) = 1/4 per area: 10 / (1/2) = 20 between, 10 / (1/4) = 40 to the face.
    const auto A = poisson_matrix(problem);
    EXPECT_EQ(A.value, (std::vector<double>{60, -20, -20, 20}));
    EXPECT_EQ(poisson_rhs(problem), (std::vector<double>{10 * 11 + 40 * 7, 30 * 13 - 10 * 0.5}));
}

TEST(Poisson, IsSymmetricBitByBitWithOddWidthsAndCoefficients) {
    auto problem = box(4, 3, 5);
    problem.spacing = {{{0.1, 0.7, 1. / 3, 2.3}, {0.3, 1.7, 0.9}, {1.1, 0.2, 0.6, 5, 0.01}}};
    problem.coefficient = source_of(problem, "0.3 + abs(sin(i + 2*j + 5*k)) * 10^(i - 2)");
    const auto A = poisson_matrix(problem);
    expect_canonical_and_symmetric(problem, A);
    // Row sums: flow to the outside, nonzero only in the top layer. Six terms: their rounding.
    for (index_t row = 0; row < A.rows(); ++row) {
        double sum = 0, size = 0;
        for (auto e = A.begin[static_cast<size_t>(row)]; e < A.begin[static_cast<size_t>(row) + 1]; ++e)
            sum += A.value[static_cast<size_t>(e)], size += std::abs(A.value[static_cast<size_t>(e)]);
        if (row < 4 * 3 * 4)
            EXPECT_NEAR(sum, 0, 8 * std::numeric_limits<double>::epsilon() * size) << row;
        else
            EXPECT_GT(sum, 0.1) << row;
    }
}

// A linear potential between two Dirichlet faces, and one with given fluxes on the other faces: the scheme is exact for both,
// whatever the widths.
class PoissonFace : public ::testing::TestWithParam<int> {};

TEST_P(PoissonFace, HoldsALinearSolutionExactly) {
    const int face = GetParam(), direction = face / 2;
    auto problem = box(4, 3, 5);
    problem.spacing = {{{0.5, 1, 0.25, 2}, {1.5, 0.5, 1}, {1, 0.125, 2, 1, 0.75}}};
    const double c = 3;
    problem.coefficient.assign(static_cast<size_t>(problem.rows()), c);
    problem.source.assign(static_cast<size_t>(problem.rows()), 0);
    problem.boundary = {};
    const double slope = 1.75, at_origin = -0.5;
    const auto edges = cell_faces(problem, direction);
    const bool upper = face % 2 == 1;
    const auto f = static_cast<size_t>(face), opposite = f ^ 1u;
    // Dirichlet on this face, the flux -c dphi/dn on the opposite one, whose outward normal is -1 below and +1 above.
    problem.boundary[f] = {BoundaryKind::dirichlet, at_origin + slope * (upper ? edges.back() : 0)};
    problem.boundary[opposite] = {BoundaryKind::neumann, upper ? c * slope : -c * slope};
    const auto phi = reference::dense_solve(poisson_matrix(problem), poisson_rhs(problem));
    const auto centres = cell_centres(problem, direction);
    const index_t stride = direction == 0 ? 1 : direction == 1 ? 4 : 12;
    for (index_t row = 0; row < problem.rows(); ++row) {
        const auto at = static_cast<size_t>(row / stride % problem.cells[static_cast<size_t>(direction)]);
        // Sixty unknowns, values of some units, a condition number of some hundreds.
        EXPECT_NEAR(phi[static_cast<size_t>(row)], at_origin + slope * centres[at], 1e-12) << row;
    }
}

TEST_P(PoissonFace, HoldsAQuadraticSolution) {
    // -phi'' = 2, phi' = 0 on the opposite face: on equal cells the flux through every face is exact; the half cell at the Dirichlet face
    // carries the flux of the face over h/2 as if phi were straight, which shifts all cells by the same h^2/4.
    const int face = GetParam(), direction = face / 2;
    auto problem = box(3, 3, 3);
    problem.cells[static_cast<size_t>(direction)] = 8;
    const double h = 0.25, length = 8 * h;
    problem.spacing[static_cast<size_t>(direction)] = {h};
    problem.boundary = {};
    problem.boundary[static_cast<size_t>(face)] = {BoundaryKind::dirichlet, 1};
    set_source(problem, "2");
    const auto phi = reference::dense_solve(poisson_matrix(problem), poisson_rhs(problem));
    const auto centres = cell_centres(problem, direction);
    const index_t stride = direction == 0 ? 1 : direction == 1 ? 3 : 9;
    const bool upper = face % 2 == 1;
    for (index_t row = 0; row < problem.rows(); ++row) {
        const auto at = static_cast<size_t>(row / stride % 8);
        const double free_end = upper ? centres[at] : length - centres[at];  // distance from the face without flux
        EXPECT_NEAR(phi[static_cast<size_t>(row)], 1 + length * length - free_end * free_end + h * h / 4, 1e-12) << row;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, PoissonFace, ::testing::Range(0, 6),
                         [](const auto& each) { return face_names[static_cast<size_t>(each.param)]; });

TEST(Poisson, ConservesFlux) {
    // The source leaves through the faces: through the Neumann faces as given, the rest through the Dirichlet faces.
    auto problem = box(4, 3, 5);
    problem.spacing = {{{0.5, 1, 0.25, 2}, {1.5, 0.5, 1}, {1, 0.125, 2, 1, 0.75}}};
    problem.coefficient = source_of(problem, "1 + i*j/k");
    set_source(problem, "sin(x) + z - 0.5");
    problem.boundary[0] = {BoundaryKind::neumann, 0.75};
    problem.boundary[3] = {BoundaryKind::dirichlet, -2};
    problem.boundary[5] = {BoundaryKind::dirichlet, 3};
    const auto phi = reference::dense_solve(poisson_matrix(problem), poisson_rhs(problem));
    const auto& h = problem.spacing;
    double made = 0, out = 0, size = 0;
    for (size_t k = 0; k < 5; ++k)
        for (size_t j = 0; j < 3; ++j)
            for (size_t i = 0; i < 4; ++i) {
                const auto row = i + 4 * (j + 3 * k);
                made += problem.source[row] * h[0][i] * h[1][j] * h[2][k];
                const double c = problem.coefficient[row];
                const auto leaves = [&](double flux) { out += flux, size += std::abs(flux); };
                if (i == 0) leaves(0.75 * h[1][j] * h[2][k]);
                if (j == 2) leaves((phi[row] + 2) * c * h[0][i] * h[2][k] / (h[1][j] / 2));
                if (k == 4) leaves((phi[row] - 3) * c * h[0][i] * h[1][j] / (h[2][k] / 2));
            }
    EXPECT_NEAR(out, made, 1e-12 * size);  // sixty cells, a condition number of some thousands
}

TEST(Poisson, ConvergesWithSecondOrderOnAManufacturedSolution) {
    // phi = cos(pi x) cos(pi y) sin(pi z / 2), c = 1 + x z / 2 on the unit cube: phi = 0 on z_min, no flux through the sides and z_max.
    // The coefficient enters as the harmonic mean of its values in the centres, which is of second order too.
    const auto worst = [](index_t n) {
        auto problem = box(n, n, n);
        for (auto& h : problem.spacing) h = {1. / static_cast<double>(n)};
        problem.boundary = {};
        problem.boundary[4] = {BoundaryKind::dirichlet, 0};
        problem.coefficient = source_of(problem, "1 + x*z/2");
        // -div(c grad phi) = -c lap(phi) - dc/dx dphi/dx - dc/dz dphi/dz
        set_source(problem,
                   "(1 + x*z/2) * 2.25*pi^2 * cos(pi*x)*cos(pi*y)*sin(pi*z/2)"
                   " + z/2 * pi * sin(pi*x)*cos(pi*y)*sin(pi*z/2)"
                   " - x/2 * pi/2 * cos(pi*x)*cos(pi*y)*cos(pi*z/2)");
        const auto phi = reference::dense_solve(poisson_matrix(problem), poisson_rhs(problem));
        return largest_difference(phi, source_of(problem, "cos(pi*x)*cos(pi*y)*sin(pi*z/2)"));
    };
    const double coarse = worst(4), fine = worst(8);
    EXPECT_LT(fine, 0.02);
    EXPECT_GT(coarse / fine, 3.4) << "4 for second order, 2 for first";
    EXPECT_LT(coarse / fine, 4.6);
}

TEST(Poisson, AgreesWithTheCosineTransform) {
    auto problem = box(6, 5, 7);
    problem.spacing = {{{0.5}, {1.25}, {2}}};
    problem.coefficient.assign(static_cast<size_t>(problem.rows()), 1.5);
    set_source(problem, "sin(3*i) + cos(2*j*k)");
    const auto b = poisson_rhs(problem);
    const auto A = poisson_matrix(problem);
    const auto phi = reference::solve({.nx = 6, .ny = 5, .nz = 7, .hx = 0.5, .hy = 1.25, .hz = 2, .coefficient = 1.5}, b);
    const auto dense = reference::dense_solve(A, b);
    EXPECT_LT(largest_difference(phi, dense), 1e-11);  // values of some tens, a condition number of some hundreds
    EXPECT_GT(std::abs(dense[0]), 1) << "not all zero";
}

TEST(Poisson, AgreesWithTheCosineTransformWithoutAFixedFace) {
    auto problem = box(4, 6, 5);
    problem.spacing = {{{0.5}, {1}, {2}}};
    problem.boundary = {};
    EXPECT_TRUE(problem.singular());
    set_source(problem, "sin(3*i) + cos(2*j*k)");
    auto b = poisson_rhs(problem);
    double mean = 0;
    for (const double each : b) mean += each / static_cast<double>(b.size());
    for (double& each : b) each -= mean;
    const auto phi = reference::solve({.nx = 4, .ny = 6, .nz = 5, .hx = 0.5, .hy = 1, .hz = 2, .fixed_top = false}, b);
    const auto A = poisson_matrix(problem);
    double sum = 0;
    for (index_t row = 0; row < A.rows(); ++row) {
        double product = 0;
        for (auto e = A.begin[static_cast<size_t>(row)]; e < A.begin[static_cast<size_t>(row) + 1]; ++e)
            product += A.value[static_cast<size_t>(e)] * phi[static_cast<size_t>(A.column[static_cast<size_t>(e)])];
        EXPECT_NEAR(product, b[static_cast<size_t>(row)], 1e-12);
        sum += phi[static_cast<size_t>(row)];
    }
    EXPECT_NEAR(sum, 0, 1e-10);
}

TEST(Poisson, ReferenceHasTheKnownValues) {
    for (const size_t n : {8u, 32u}) {
        const auto phi = reference::solve({.nx = n, .ny = n, .nz = n}, std::vector<double>(n * n * n, 1.));
        for (size_t k = 0; k < n; ++k)
            EXPECT_NEAR(phi[n * n * k + k], reference::uniform_source(k, n), 1e-11 * reference::uniform_source(0, n)) << k;
    }
    EXPECT_EQ(reference::uniform_source(0, 128), 8192);
    EXPECT_EQ(reference::uniform_source(127, 128), 64);
    for (const auto& [n, first, last] : reference::linear_source) {
        if (n > 64) continue;  // takes a second
        auto problem = box(static_cast<index_t>(n), static_cast<index_t>(n), static_cast<index_t>(n));
        set_source(problem, "i + j + k");
        const auto phi = reference::solve({.nx = n, .ny = n, .nz = n}, poisson_rhs(problem));
        EXPECT_NEAR(phi.front(), first, 1e-6 * first) << n;  // seven digits are known
        EXPECT_NEAR(phi.back(), last, 1e-6 * last) << n;
    }
}

TEST(Poisson, DetectsASingularProblem) {
    auto problem = box(2, 2, 2);
    EXPECT_FALSE(problem.singular());
    problem.boundary = {};
    EXPECT_TRUE(problem.singular());
    problem.boundary[2].kind = BoundaryKind::dirichlet;
    EXPECT_FALSE(problem.singular());
}

TEST(Poisson, PlacesFacesAndCentres) {
    auto problem = box(3, 2, 1);
    problem.spacing = {{{0.5}, {1, 3}, {2}}};
    EXPECT_EQ(cell_faces(problem, 0), (std::vector<double>{0, 0.5, 1, 1.5}));
    EXPECT_EQ(cell_faces(problem, 1), (std::vector<double>{0, 1, 4}));
    EXPECT_EQ(cell_centres(problem, 1), (std::vector<double>{0.5, 2.5}));
    EXPECT_EQ(cell_centres(problem, 2), (std::vector<double>{1}));
}

std::string problems_of(const PoissonProblem& problem) {
    try {
        poisson_matrix(problem);
    } catch (const InputError& error) {
        std::string all;
        for (const auto& each : error.problems()) all += each.text() + "\n";
        return all;
    }
    return "taken";
}

TEST(Poisson, RefusesInvalidProblems) {
    const auto expect = [](const PoissonProblem& problem, const std::vector<std::string>& words) {
        const auto text = problems_of(problem);
        for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in " << text;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    expect(box(0, 4, 4), {"cells", "is 0 along x"});
    expect(box(4, 4, -1), {"is -1 along z"});
    expect(box(1291, 1291, 1291), {"more than 2147483647 cells"});
    expect(box(index_t{1} << 40, index_t{1} << 40, 2), {"more than 2147483647 cells"});
    auto problem = box(2, 2, 2);
    problem.spacing[1] = {1, 2, 3};
    expect(problem, {"along y has 3 numbers"});
    problem.spacing[1] = {};
    expect(problem, {"along y has 0 numbers"});
    for (const double width : {0., -1., nan, infinity}) {
        problem.spacing[1] = {1, width};
        expect(problem, {"spacing", "along y", "in cell 2"});
    }
    problem = box(2, 2, 2);
    problem.coefficient = {1, 1, 1};
    expect(problem, {"coefficient", "has 3 values for 8 cells"});
    for (const double c : {0., -1., nan, infinity}) {
        problem.coefficient = {1, 1, 1, 1, 1, c, 1, 1};
        expect(problem, {"in cell (2, 1, 2)"});
    }
    problem = box(2, 2, 2);
    problem.boundary[3].value = nan;
    expect(problem, {"y_max", "not finite"});
    problem = box(1, 1, 1);
    problem.boundary = {};
    expect(problem, {"single cell"});
    problem = box(2, 2, 2);
    problem.spacing = {{{1e-200}, {1e-200}, {1e-200}}};
    expect(problem, {"too extreme"});
    problem = box(0, 2, 2);
    problem.spacing[2] = {-1};
    problem.boundary[0].value = infinity;
    expect(problem, {"is 0 along x", "is -1 in cell 1", "x_min"});  // all at once
}

TEST(Poisson, RefusesASourceThatDoesNotFit) {
    auto problem = box(2, 2, 2);
    EXPECT_THROW(poisson_rhs(problem), InputError);
    problem.source.assign(7, 1);
    EXPECT_THROW(poisson_rhs(problem), InputError);
    problem.source.assign(8, 1);
    EXPECT_EQ(poisson_rhs(problem), std::vector<double>(8, 1));
    problem.source[3] = std::numeric_limits<double>::quiet_NaN();
    try {
        poisson_rhs(problem);
        FAIL() << "not a number";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("cell (2, 2, 1)"), std::string::npos) << error.what();
    }
}

}  // namespace
