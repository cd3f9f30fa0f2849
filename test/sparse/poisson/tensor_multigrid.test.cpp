// Geometric multigrid for a tensor: the operator of its grids against the matrix of the diagonal tensor, bounds of the two matrices, and
// solutions against conjugate gradients with incomplete factors.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <gtest/gtest.h>
#include <sparse/multigrid/poisson_boxes.hpp>
#include <sparse/poisson/fields.hpp>

#include <cmath>
#include <functional>
#include <numbers>

namespace kasane::sparse::test {
namespace {

/// The axis of fibres at a place, of any length.
using Axis = std::function<std::array<double, 3>(double x, double y, double z)>;

/// 1 across the fibres and `along` along them.
void set_fibres(PoissonProblem& problem, double along, const Axis& axis) {
    for (std::size_t c = 0; c < 6; ++c)
        problem.tensor[c] = centre_values(problem, [&](double x, double y, double z) {
            const std::size_t first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
            const auto u = axis(x, y, z);
            const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
            return (first[c] == second[c] ? 1 : 0) + (along - 1) * u[first[c]] * u[second[c]] / square;
        });
}

std::array<double, 3> turning(double x, double y, double z) { return {std::cos(3 * x + 2 * z), std::sin(3 * x + 2 * z), 0.5 * y}; }
std::array<double, 3> diagonal(double, double, double) { return {1, 1, 1}; }

/// Edges of length 1, phi = 0 on top, source i + j + k.
PoissonProblem unit_box(index_t n) {
    auto problem = box_problem(n, n, n);
    for (auto& h : problem.spacing) h = {1. / static_cast<double>(n)};
    return problem;
}

/// Of widths that differ by a factor of five, with a Robin and a Dirichlet face.
PoissonProblem uneven_fibres(index_t nx, index_t ny, index_t nz) {
    auto problem = box_problem(nx, ny, nz);
    for (std::size_t d = 0; d < 3; ++d) {
        problem.spacing[d].clear();
        for (index_t i = 0; i < problem.cells[d]; ++i)
            problem.spacing[d].push_back(0.15 + 0.1 * std::sin(2.3 * static_cast<double>(i) + static_cast<double>(d)));
    }
    problem.boundary[0] = {BoundaryKind::robin, 2, 0.7};
    problem.boundary[3] = {BoundaryKind::neumann, -0.5};
    set_fibres(problem, 10, turning);
    return problem;
}

PoissonProblem without_couplings(PoissonProblem problem) {
    for (const std::size_t c : {1, 2, 4}) problem.tensor[c].clear();
    return problem;
}

void make_periodic(PoissonProblem& problem, std::size_t d) {
    problem.boundary[2 * d].kind = problem.boundary[2 * d + 1].kind = BoundaryKind::periodic;
}

TEST(TensorMultigrid, HasTheMatrixOfTheDiagonalTensorOnItsFinestGrid) {
    for (const bool periodic : {false, true}) {
        auto problem = uneven_fibres(6, 5, 4);
        if (periodic) make_periodic(problem, 0), make_periodic(problem, 2);
        const auto diagonal = without_couplings(problem);
        expect_operator_of_matrix(diagonal);
        const BoxOperator<Cpu> of_full(Cpu{2}, problem), of_diagonal(Cpu{2}, diagonal);
        for (int d = 0; d < 3; ++d) {
            const auto faces = face_conductances(diagonal, d);
            for (std::size_t f = 0; f < faces.size(); ++f) {
                ASSERT_EQ(of_full.faces().face[d][f], faces[f]);
                ASSERT_EQ(of_diagonal.faces().face[d][f], faces[f]);
            }
        }
    }
}

/// x.A x of the tensor over that of its diagonal part.
double ratio_of_energies(const PoissonProblem& problem, const Field& x) {
    const auto energy = [&](const CsrMatrix& matrix) {
        double sum = 0;
        for (std::size_t row = 0; row < x.size(); ++row)
            for (auto e = static_cast<std::size_t>(matrix.begin[row]); e < static_cast<std::size_t>(matrix.begin[row + 1]); ++e)
                sum += x[row] * matrix.value[e] * x[static_cast<std::size_t>(matrix.column[e])];
        return sum;
    };
    return energy(poisson_matrix(problem)) / energy(poisson_matrix(without_couplings(problem)));
}

TEST(TensorMultigrid, EigenvaluesOfTheTensorBoundThoseOfTheMatrices) {
    // Eigenvalues 4, 1 and 1 with an equal diagonal: 1/2 to 2 of it.
    auto uneven = uneven_fibres(6, 5, 4);
    set_fibres(uneven, 4, diagonal);
    RandomStream random(5, 0);
    for (int vector = 0; vector < 40; ++vector) {
        Field x;
        const double wave = 0.2 * vector;
        for (index_t row = 0; row < uneven.rows(); ++row)
            x.push_back(vector < 10 ? random.uniform() - 0.5
                                    : std::sin(wave * (static_cast<double>(row % 6) - static_cast<double>(row / 6 % 5)) +
                                               0.3 * static_cast<double>(row / 30)));
        const double ratio = ratio_of_energies(uneven, x);
        EXPECT_GE(ratio, 0.5 - 1e-12);
        EXPECT_LE(ratio, 2 + 1e-12);
    }
    // Long waves along the fibres and across them come near both, to second order in the 2 pi / 24 of a cell.
    auto periodic = unit_box(24);
    for (const std::size_t d : {0, 1, 2}) make_periodic(periodic, d);
    set_fibres(periodic, 4, diagonal);
    const auto wave = [&](double along_y, double along_z) {
        return ratio_of_energies(periodic, centre_values(periodic, [&](double x, double y, double z) {
                                     return std::sin(2 * std::numbers::pi * (x + along_y * y + along_z * z));
                                 }));
    };
    EXPECT_NEAR(wave(1, 1), 2, 0.05);
    EXPECT_NEAR(wave(-1, 0), 0.5, 0.05);
    EXPECT_LT(wave(1, 1), 2);
    EXPECT_GT(wave(-1, 0), 0.5);
}

TEST(TensorMultigrid, AnisotropyIsThatOfTheEigenvaluesRelativeToTheMeanDiagonal) {
    auto problem = unit_box(8);
    const auto of = [&](double along, const Axis& axis) {
        set_fibres(problem, along, axis);
        return tensor_anisotropy(problem);
    };
    EXPECT_NEAR(of(50, diagonal), 50, 1e-9);
    EXPECT_NEAR(of(50, [](double, double, double) { return std::array<double, 3>{1, 1, 0}; }), 50, 1e-9);
    EXPECT_NEAR(of(50, [](double, double, double) { return std::array<double, 3>{0, 1, 0}; }), 1, 1e-9) << "the grids follow";
    EXPECT_NEAR(of(50, [](double x, double, double) { return std::array<double, 3>{x < 0.5 ? 1. : 0., x < 0.5 ? 0. : 1., 0}; }), 50, 2)
        << "the grids cannot follow both halves";
    EXPECT_NEAR(of(1, diagonal), 1, 1e-9);
    for (auto& component : problem.tensor) component.resize(1);
    EXPECT_NEAR(tensor_anisotropy(problem), 1, 1e-9);
    // By a factor from cell to cell nothing is turned.
    set_fibres(problem, 1, diagonal);
    for (const std::size_t c : {0, 3, 5})
        for (std::size_t row = 0; row < problem.tensor[c].size(); ++row) problem.tensor[c][row] *= row % 3 == 0 ? 1e-6 : 7;
    EXPECT_NEAR(tensor_anisotropy(problem), 1, 1e-9);

    EXPECT_TRUE(geometric_multigrid_pays(unit_box(8)));
    set_fibres(problem, 30, turning);
    EXPECT_TRUE(geometric_multigrid_pays(problem));
    set_fibres(problem, 1000, turning);
    EXPECT_FALSE(geometric_multigrid_pays(problem));
    problem.boundary = {};
    EXPECT_TRUE(geometric_multigrid_pays(problem)) << "Solver does not find the null space";
    auto odd = box_problem(9, 8, 8);
    make_periodic(odd, 0);
    EXPECT_FALSE(geometric_multigrid_pays(odd));
}

TEST(TensorMultigrid, SolvesAsConjugateGradientsWithFactorsDo) {
    for (const int kind : {0, 1, 2, 3, 4}) {
        auto problem = uneven_fibres(18, 14, 10);
        if (kind == 1) make_periodic(problem, 0), make_periodic(problem, 1);
        if (kind == 2) problem.boundary = {};  // phi is known up to a constant
        if (kind == 3) problem = without_couplings(problem);
        if (kind == 4) set_fibres(problem, 200, turning);
        if (problem.singular()) {
            double volume = 0, sum = 0;
            const auto b = poisson_rhs(problem);
            for (std::size_t row = 0; row < b.size(); ++row) sum += b[row], volume += b[row] / problem.source[row];
            for (double& f : problem.source) f -= sum / volume;
        }
        auto expected = solve(problem, 1e-12);
        if (problem.singular()) {
            // With entries of both signs Solver leaves the constant open.
            double mean = 0;
            for (const double value : expected) mean += value / static_cast<double>(expected.size());
            for (double& value : expected) value -= mean;
        }
        std::vector<double> one_thread;
        for (const auto& space : box_spaces()) {
            const auto [x, log] = solved(space, problem, 1e-12);
            ASSERT_TRUE(log.converged()) << kind;
            EXPECT_LT(far(x, expected), 1e-8) << kind;
            EXPECT_LT(residual(problem, x), 2e-12) << kind;
            if (one_thread.empty())
                one_thread = x;
            else if (std::holds_alternative<Cpu>(space)) {
                EXPECT_EQ(x, one_thread) << "the same bits for any number of threads";
            }
        }
    }
}

TEST(TensorMultigrid, TakesAsManyIterationsOnFinerGrids) {
    std::vector<int> iterations;
    for (const index_t n : {12, 24, 48}) {
        auto problem = unit_box(n);
        set_fibres(problem, 10, turning);
        const auto [x, log] = solved(Cpu{2}, problem, 1e-8);
        EXPECT_TRUE(log.converged());
        iterations.push_back(log.iterations);
    }
    EXPECT_LE(iterations[2], 40);
    EXPECT_LE(iterations[2], iterations[1] + 8) << iterations[0] << ' ' << iterations[1] << ' ' << iterations[2];
}

TEST(TensorMultigrid, HoldsNoMoreMemoryThanEstimatedAndNoMatrixOfADiagonalTensor) {
    auto problem = unit_box(24);
    set_fibres(problem, 10, turning);
    const auto rows = static_cast<std::uint64_t>(problem.rows());
    const PoissonSolver full(Cpu{1}, problem), diagonal(Cpu{1}, without_couplings(problem));
    EXPECT_LT(full.setup().bytes + 56 * rows, poisson_solver_memory(problem));
    EXPECT_GT(full.setup().bytes, 300 * rows);
    EXPECT_LT(diagonal.setup().bytes, 70 * rows);
}

}  // namespace
}  // namespace kasane::sparse::test
