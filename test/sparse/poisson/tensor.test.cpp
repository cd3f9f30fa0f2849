// The Poisson problem with a tensor: the scheme against its energy with all unknowns, against potentials that it holds exactly, against the
// scheme of scalar coefficients, and against a manufactured solution.
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
#include <tuple>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

/// A closed box of cells of different widths.
PoissonProblem uneven_box(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    problem.boundary = {};
    for (std::size_t d = 0; d < 3; ++d) {
        problem.spacing[d].clear();
        for (index_t i = 0; i < problem.cells[d]; ++i)
            problem.spacing[d].push_back(0.5 + 0.4 * std::sin(2.3 * static_cast<double>(i) + static_cast<double>(d)));
    }
    problem.source.assign(static_cast<std::size_t>(problem.rows()), 0.);
    return problem;
}

/// A full tensor that differs from cell to cell: its least eigenvalue is at least 0.2.
void set_varying_tensor(PoissonProblem& problem) {
    for (std::size_t c = 0; c < 6; ++c) problem.tensor[c].clear();
    for (index_t row = 0; row < problem.rows(); ++row) {
        // K = 0.2 + u u^T + v v^T
        const auto t = static_cast<double>(row);
        const double u[3] = {std::sin(t), 1.5 * std::cos(2 * t), std::sin(3 * t + 1)}, v[3] = {0.3, std::cos(t), -std::sin(5 * t)};
        std::size_t c = 0;
        for (int d = 0; d < 3; ++d)
            for (int e = d; e < 3; ++e) problem.tensor[c++].push_back((d == e ? 0.2 : 0) + u[d] * u[e] + v[d] * v[e]);
    }
}

double component_of(const PoissonProblem& problem, int d, int e, index_t row) {
    const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const auto& values = problem.tensor[static_cast<std::size_t>(place[d][e])];
    return values.empty() ? 0 : values.size() == 1 ? values[0] : values[static_cast<std::size_t>(row)];
}

/// The potentials of cells that minimise the energy of octants, with the potential of every part of a face as an unknown of its own:
/// nothing is eliminated by hand, so that this shares no formula with the library beyond the energy itself.
Field minimise_energy(const PoissonProblem& problem) {
    const auto cells = problem.cells;
    // A part of a face: its direction, the face's index along it, the cell's indices, and the corner across the other two directions.
    using Part = std::tuple<int, index_t, index_t, index_t, int>;
    std::map<Part, std::size_t> number;
    std::map<std::size_t, std::pair<std::size_t, bool>> edge;  // unknowns at the boundary: the face, and that it is held
    struct Octant {
        index_t row;
        double scale[3];  // 1 / (distance to the face with its sign)
        double volume, area[3];
        std::size_t part[3];
    };
    std::vector<Octant> octants;
    const auto rows = static_cast<std::size_t>(problem.rows());
    std::map<std::size_t, double> areas;
    for (index_t k = 0; k < cells[2]; ++k)
        for (index_t j = 0; j < cells[1]; ++j)
            for (index_t i = 0; i < cells[0]; ++i)
                for (int corner = 0; corner < 8; ++corner) {
                    const index_t at[3] = {i, j, k};
                    double half[3];
                    for (std::size_t d = 0; d < 3; ++d) half[d] = problem.spacing[d][static_cast<std::size_t>(at[d])] / 2;
                    Octant octant;
                    octant.row = i + cells[0] * (j + cells[1] * k);
                    octant.volume = half[0] * half[1] * half[2];
                    for (int d = 0; d < 3; ++d) {
                        const bool upper = corner >> d & 1;
                        const auto n = cells[static_cast<std::size_t>(d)];
                        index_t face = at[d] + upper;
                        const bool around = problem.periodic(static_cast<std::size_t>(d));
                        if (around && face == n) face = 0;
                        const index_t other[2] = {at[d == 0 ? 1 : 0], at[d == 2 ? 1 : 2]};
                        const Part part{d, face, other[0], other[1], corner & ~(1 << d)};
                        const auto made = number.emplace(part, rows + number.size()).first->second;
                        octant.scale[d] = (upper ? 1 : -1) / half[d];
                        octant.part[d] = made;
                        octant.area[d] = octant.volume / half[d];
                        if (!around && (face == 0 || face == n)) {
                            edge[made] = {static_cast<std::size_t>(2 * d + upper), true};
                            areas[made] = octant.area[d];
                        }
                    }
                    octants.push_back(octant);
                }
    const auto n = rows + number.size();
    std::vector<Field> M(n, Field(n, 0.));
    Field right(n, 0.);
    for (const auto& o : octants) {
        for (int d = 0; d < 3; ++d)
            for (int e = 0; e < 3; ++e) {
                const double entry = o.volume * o.scale[d] * o.scale[e] * component_of(problem, d, e, o.row);
                const auto row = static_cast<std::size_t>(o.row);
                M[o.part[d]][o.part[e]] += entry;
                M[row][row] += entry;
                M[row][o.part[e]] -= entry;
                M[o.part[d]][row] -= entry;
            }
        right[static_cast<std::size_t>(o.row)] += o.volume * problem.source[static_cast<std::size_t>(o.row)];
    }
    for (const auto& [unknown, where] : edge) {
        const auto& condition = problem.boundary[where.first];
        if (condition.kind == BoundaryKind::dirichlet) {
            std::ranges::fill(M[unknown], 0.);
            M[unknown][unknown] = 1;
            right[unknown] = condition.value;
        } else if (condition.kind == BoundaryKind::robin) {
            M[unknown][unknown] += condition.transfer * areas[unknown];
            right[unknown] += condition.transfer * areas[unknown] * condition.value;
        } else {
            right[unknown] -= condition.value * areas[unknown];
        }
    }
    CsrMatrix dense;
    dense.begin = {0};
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t column = 0; column < n; ++column) {
            dense.column.push_back(static_cast<std::int32_t>(column));
            dense.value.push_back(M[row][column]);
        }
        dense.begin.push_back(std::ssize(dense.value));
    }
    auto solution = reference::lu_solve(dense, right);
    solution.resize(rows);
    return solution;
}

TEST(PoissonTensor, MinimisesTheEnergyOfItsCorners) {
    for (const bool periodic : {false, true}) {
        auto problem = uneven_box(4, 3, 2);
        set_varying_tensor(problem);
        problem.source = source_of(problem, "sin(i) - j*k");
        problem.boundary[0] = {BoundaryKind::dirichlet, 3};
        problem.boundary[1] = {BoundaryKind::neumann, -0.5};
        problem.boundary[2] = {BoundaryKind::robin, 2, 0.7};
        if (periodic)
            problem.boundary[2].kind = problem.boundary[3].kind = BoundaryKind::periodic;
        else
            problem.boundary[5] = {BoundaryKind::dirichlet, -1};
        const auto expected = minimise_energy(problem);
        EXPECT_LE(largest_difference(reference::lu_solve(poisson_matrix(problem), poisson_rhs(problem)), expected), 1e-11);
        EXPECT_LE(largest_difference(solve(problem), expected), 1e-9);
    }
}

TEST(PoissonTensor, HoldsALinearPotentialInAConstantTensor) {
    auto problem = uneven_box(4, 5, 3);
    const double K[6] = {3, 1, -0.5, 2, 0.7, 1.5};
    for (std::size_t c = 0; c < 6; ++c) problem.tensor[c] = {K[c]};
    const double g[3] = {1, -2, 0.5};
    const double flux[3] = {-(K[0] * g[0] + K[1] * g[1] + K[2] * g[2]), -(K[1] * g[0] + K[3] * g[1] + K[4] * g[2]),
                            -(K[2] * g[0] + K[4] * g[1] + K[5] * g[2])};
    const std::string phi = "x - 2*y + 0.5*z";
    problem.boundary[0] = {BoundaryKind::dirichlet, 0, 0, phi};
    problem.boundary[1] = {BoundaryKind::neumann, flux[0]};
    problem.boundary[2] = {BoundaryKind::neumann, -flux[1]};
    problem.boundary[3] = {BoundaryKind::robin, 0, 4, phi + " - " + std::to_string(flux[1] / 4)};
    problem.boundary[4] = {BoundaryKind::robin, 0, 0.5, phi + " + " + std::to_string(flux[2] / 0.5)};
    problem.boundary[5] = {BoundaryKind::dirichlet, 0, 0, phi};
    const auto exact = centre_values(problem, [&](double x, double y, double z) { return x - 2 * y + 0.5 * z; });
    EXPECT_LE(largest_difference(solve(problem), exact), 1e-9);
}

TEST(PoissonTensor, HoldsAPotentialThatBendsWhereTheTensorJumps) {
    // Below x = X one tensor, above another: the gradients along y and z agree, and the flux along x does.
    auto problem = uneven_box(5, 4, 3);
    const double below[6] = {3, 1, -0.5, 2, 0.7, 1.5}, above[6] = {200, -40, 30, 100, 7, 60};
    double at = 0;
    for (std::size_t i = 0; i < 2; ++i) at += problem.spacing[0][i];
    for (std::size_t c = 0; c < 6; ++c)
        for (index_t row = 0; row < problem.rows(); ++row) problem.tensor[c].push_back(row % 5 < 2 ? below[c] : above[c]);
    const double gy = -2, gz = 0.5, first = 1;
    const double second = (below[0] * first + below[1] * gy + below[2] * gz - above[1] * gy - above[2] * gz) / above[0];
    const auto text = [](double value) { return "(" + std::to_string(value) + ")"; };
    // Six digits of the formula: the error that they allow is the tolerance.
    const std::string phi = "(x < " + text(at) + " ? x : " + text(at) + " + " + text(second) + "*(x - " + text(at) + ")) - 2*y + 0.5*z";
    for (auto& face : problem.boundary) face = {BoundaryKind::dirichlet, 0, 0, phi};
    const auto exact = centre_values(
        problem, [&](double x, double y, double z) { return (x < at ? first * x : first * at + second * (x - at)) + gy * y + gz * z; });
    EXPECT_LE(largest_difference(solve(problem), exact), 1e-5);
}

TEST(PoissonTensor, IsTheSchemeOfAScalarWhereTheTensorIsDiagonal) {
    auto scalar = uneven_box(4, 3, 5);
    scalar.coefficient = source_of(scalar, "10^(3*sin(7*i + 3*j - k))");
    scalar.boundary[0] = {BoundaryKind::dirichlet, 3};
    scalar.boundary[3] = {BoundaryKind::robin, -1, 0.3};
    scalar.boundary[4] = {BoundaryKind::neumann, 0.5};
    auto problem = scalar;
    problem.coefficient.clear();
    for (const std::size_t c : {0, 3, 5}) problem.tensor[c] = scalar.coefficient;
    const auto A = poisson_matrix(scalar), B = poisson_matrix(problem);
    EXPECT_EQ(A.begin, B.begin);
    EXPECT_EQ(A.column, B.column);
    for (std::size_t e = 0; e < A.value.size(); ++e) ASSERT_NEAR(B.value[e], A.value[e], 1e-12 * std::fabs(A.value[e])) << e;
    const auto a = poisson_rhs(scalar), b = poisson_rhs(problem);
    for (std::size_t row = 0; row < a.size(); ++row) ASSERT_NEAR(b[row], a[row], 1e-12 * (1 + std::fabs(a[row])));
}

TEST(PoissonTensor, MatricesAreSymmetricBitByBitWithRowsThatSumToZero) {
    for (const int couplings : {0, 1, 2, 3, 4, 5, 6, 7})
        for (const int directions : {0, 1, 4, 6, 7}) {
            auto problem = uneven_box(5, 3, 4);
            set_varying_tensor(problem);
            if (!(couplings & 1)) problem.tensor[1].clear();
            if (!(couplings & 2)) problem.tensor[2].clear();
            if (!(couplings & 4)) problem.tensor[4].clear();
            for (const std::size_t c : {0, 3, 5})
                for (auto& value : problem.tensor[c]) value += 4;  // positive without some of the couplings too
            for (std::size_t d = 0; d < 3; ++d)
                if (directions >> d & 1) problem.boundary[2 * d].kind = problem.boundary[2 * d + 1].kind = BoundaryKind::periodic;
            const auto A = poisson_matrix(problem);
            ASSERT_EQ(A.nonzeros(), poisson_nonzeros(problem)) << couplings << ' ' << directions;
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
            for (const auto& [place, value] : all) ASSERT_EQ(value, (all[{place.second, place.first}]));
            // A cell in the middle of a closed box: 7, 9 + 2 or 27 entries.
            if (directions == 0) {
                const auto middle = static_cast<std::size_t>(1 + 5 * (1 + 3 * 1));
                const int coupled = (couplings & 1) + (couplings >> 1 & 1) + (couplings >> 2);
                EXPECT_EQ(A.begin[middle + 1] - A.begin[middle], coupled == 0 ? 7 : coupled == 1 ? 11 : 27);
            }
        }
}

TEST(PoissonTensor, IsOfSecondOrder) {
    // phi = sin(x + 2 y - z) exp(y/2) in a tensor that turns with the position, eigenvalues 1, 4 and 2: the source is -div(K grad phi) by
    // central differences of the exact flux, whose error of some 1e-9 does not count here.
    struct Exact {
        static double phi(double x, double y, double z) { return std::sin(x + 2 * y - z) * std::exp(y / 2); }
        static void tensor(double x, double y, double z, double (&K)[3][3]) {
            const double a = 0.7 + x + 0.5 * z, b = 0.4 * y;
            const double u[3] = {std::cos(a), std::sin(a), 0}, v[3] = {-std::sin(a) * std::cos(b), std::cos(a) * std::cos(b), std::sin(b)};
            for (int d = 0; d < 3; ++d)
                for (int e = 0; e < 3; ++e) K[d][e] = (d == e ? 1 : 0) + 3 * u[d] * u[e] + v[d] * v[e];
        }
        static double flux(int d, double x, double y, double z) {
            double K[3][3];
            tensor(x, y, z, K);
            const double c = std::cos(x + 2 * y - z) * std::exp(y / 2), s = phi(x, y, z);
            const double g[3] = {c, 2 * c + s / 2, -c};
            return -(K[d][0] * g[0] + K[d][1] * g[1] + K[d][2] * g[2]);
        }
    };
    const auto error = [](index_t n) {
        PoissonProblem problem;
        problem.cells = {n, n, n};
        for (auto& h : problem.spacing) h = {1. / static_cast<double>(n)};
        for (auto& face : problem.boundary) face = {BoundaryKind::dirichlet, 0, 0, "sin(x + 2*y - z) * exp(y/2)"};
        // Through one face the flux is given.
        problem.boundary[3] = {BoundaryKind::neumann, 0, 0, ""};
        const auto text = [](int e) {
            const std::string a = "(0.7 + x + 0.5*z)", b = "(0.4*y)", v1 = "(cos" + a + "*cos" + b + ")";
            const std::string row[3] = {"(3*sin" + a + "*cos" + a + " - sin" + a + "*cos" + b + "*" + v1 + ")",
                                        "(1 + 3*sin" + a + "^2 + " + v1 + "^2)", "(sin" + b + "*" + v1 + ")"};
            return row[e];
        };
        const std::string c = "cos(x + 2*y - z)*exp(y/2)", s = "sin(x + 2*y - z)*exp(y/2)";
        problem.boundary[3].formula =
            "-(" + text(0) + "*" + c + " + " + text(1) + "*(2*" + c + " + " + s + "/2) - " + text(2) + "*" + c + ")";
        for (auto& values : problem.tensor) values.resize(static_cast<std::size_t>(problem.rows()));
        std::size_t row = 0;
        problem.source = centre_values(problem, [&](double x, double y, double z) {
            double K[3][3];
            Exact::tensor(x, y, z, K);
            std::size_t component = 0;
            for (int d = 0; d < 3; ++d)
                for (int e = d; e < 3; ++e) problem.tensor[component++][row] = K[d][e];
            ++row;
            constexpr double h = 1e-4;
            return (Exact::flux(0, x + h, y, z) - Exact::flux(0, x - h, y, z) + Exact::flux(1, x, y + h, z) - Exact::flux(1, x, y - h, z) +
                    Exact::flux(2, x, y, z + h) - Exact::flux(2, x, y, z - h)) /
                   (2 * h);
        });
        return largest_difference(solve(problem, 1e-10), centre_values(problem, Exact::phi));
    };
    const double coarse = error(6), middle = error(12), fine = error(24);
    for (const auto& [cells, value] : {std::pair{"6", coarse}, {"12", middle}, {"24", fine}})
        RecordProperty(std::string("error_") + cells, std::to_string(value));
    EXPECT_LT(fine, 2e-3);
    EXPECT_GT(coarse / middle, 3.2) << coarse << ' ' << middle << ' ' << fine;
    EXPECT_GT(middle / fine, 3.5) << coarse << ' ' << middle << ' ' << fine << ": 4 for second order, 2 for first";
}

TEST(PoissonTensor, StaysAccurateWhereTensorsJumpBySevenOrders) {
    // Layers in series across x, the tensor turned in the y-z plane: q = 1 / sum (h / K_xx), whatever the other components are.
    auto problem = uneven_box(6, 3, 3);
    const double kxx[6] = {1, 1e4, 1e-3, 1e2, 1e4, 1e-3};
    double resistance = 0;
    for (std::size_t i = 0; i < 6; ++i) resistance += problem.spacing[0][i] / kxx[i];
    for (auto& values : problem.tensor) values.assign(54, 0.);
    for (std::size_t row = 0; row < 54; ++row) {
        const double k = kxx[row % 6];
        problem.tensor[0][row] = k, problem.tensor[3][row] = k, problem.tensor[5][row] = 3 * k, problem.tensor[4][row] = k;
    }
    problem.tensor[1].clear(), problem.tensor[2].clear();
    problem.boundary[0] = {BoundaryKind::dirichlet, 1};
    problem.boundary[1] = {BoundaryKind::dirichlet, 0};
    Field exact;
    for (std::size_t row = 0; row < 54; ++row) {
        double before = 0;
        for (std::size_t i = 0; i < row % 6; ++i) before += problem.spacing[0][i] / kxx[i];
        exact.push_back(1 - (before + problem.spacing[0][row % 6] / kxx[row % 6] / 2) / resistance);
    }
    EXPECT_LE(largest_difference(reference::lu_solve(poisson_matrix(problem), poisson_rhs(problem)), exact),
              1e-8);  // rounding of 1e4 beside 1e-3
}

TEST(PoissonTensor, RefusesTensorsThatCannotBe) {
    const auto refused = [](const std::function<void(PoissonProblem&)>& change, const std::string& key, const std::string& words) {
        auto problem = uneven_box(3, 3, 2);
        problem.boundary[0] = {BoundaryKind::dirichlet, 1};
        set_varying_tensor(problem);
        change(problem);
        try {
            poisson_matrix(problem);
            ADD_FAILURE() << "not refused: " << words;
        } catch (const InputError& error) {
            EXPECT_EQ(error.problems()[0].where.key, key);
            EXPECT_NE(error.problems()[0].message.find(words), std::string::npos) << error.what();
        }
    };
    refused([](auto& p) { p.tensor[3][4] = -1; }, "tensor", "positive definite and finite in cell (2, 2, 1)");
    refused([](auto& p) { p.tensor[1][13] = 100; }, "tensor", "in cell (2, 2, 2): xx = ");
    refused([](auto& p) { p.tensor[1][13] = std::nan(""); }, "tensor", "in cell (2, 2, 2)");
    refused([](auto& p) { p.tensor[5][0] = std::numeric_limits<double>::infinity(); }, "tensor", "in cell (1, 1, 1)");
    refused(  // eigenvalues 3, 0, 0
        [](auto& p) {
            for (auto& values : p.tensor) values = {1.};
        },
        "tensor", "not positive definite");
    refused([](auto& p) { p.tensor[3].clear(); }, "tensor", "has no values of yy");
    refused([](auto& p) { p.tensor[4].resize(7); }, "tensor", "has 7 values of yz for 18 cells");
    refused([](auto& p) { p.coefficient.assign(18, 1.); }, "coefficient", "beside a tensor");
    auto problem = uneven_box(3, 3, 2);
    problem.boundary[0] = {BoundaryKind::dirichlet, 1};
    set_varying_tensor(problem);
    EXPECT_THROW(face_conductances(problem, 0), InputError);
}

}  // namespace
