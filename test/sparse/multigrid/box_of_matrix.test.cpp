// PoissonSolver from a matrix: the faces against those of the problem that made the matrix, solutions against the assembled matrix, and the
// message of every kind of matrix that is not that of a box.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/multigrid/box_of_matrix.hpp>
#include <kasane/sparse/multigrid/box_operator.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<AnySpace> matrix_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

/// A matrix in the memory of a space, with 32-bit offsets.
template <Space S>
struct Uploaded {
    Buffer<std::int32_t, S> begin, column;
    Buffer<double, S> value;
    index_t rows;
    Uploaded(S on, const CsrMatrix& A)
        : begin(to_space(on, std::vector<std::int32_t>(A.begin.begin(), A.begin.end()))),
          column(to_space(on, A.column)),
          value(to_space(on, A.value)),
          rows(A.rows()) {}
    CsrView view() const { return {rows, begin.data(), column.data(), value.data()}; }
};

PoissonProblem problem_of(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    problem.source.assign(static_cast<std::size_t>(problem.rows()), 1.);
    problem.source.front() = 20;
    return problem;
}

std::vector<PoissonProblem> problems() {
    std::vector<PoissonProblem> all{problem_of(1, 1, 1),  problem_of(2, 2, 2),   problem_of(12, 9, 7),  problem_of(33, 20, 5),
                                    problem_of(40, 1, 9), problem_of(1, 1, 200), problem_of(16, 16, 16)};
    auto& flat = all[2];
    flat.spacing = {{{1}, {0.2}, {1, 1, 2, 2, 5, 0.2, 1}}};
    flat.boundary[0] = {BoundaryKind::dirichlet, 1};
    flat.boundary[3] = {BoundaryKind::robin, 2, 0.5};
    auto& rough = all[3];
    RandomStream random(5, 0);
    for (index_t c = 0; c < rough.rows(); ++c) rough.coefficient.push_back(random.uniform() < 0.5 ? 1 : 50);
    for (auto& face : all[6].boundary) face = {BoundaryKind::dirichlet, 0};
    all.push_back(problem_of(12, 12, 12));  // singular
    all.back().boundary[5] = {};
    for (const unsigned directions : {1, 6, 7}) {
        all.push_back(problem_of(14, 10, 6));
        for (std::size_t d = 0; d < 3; ++d)
            if (directions >> d & 1) all.back().boundary[2 * d].kind = all.back().boundary[2 * d + 1].kind = BoundaryKind::periodic;
        for (index_t c = 0; c < all.back().rows(); ++c) all.back().coefficient.push_back(random.uniform() < 0.5 ? 1 : 5);
    }
    return all;
}

double norm(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

/// b - A x, b without its mean where constants are the null space.
std::vector<double> residual_of(const PoissonProblem& problem, const CsrMatrix& A, std::vector<double> b, const std::vector<double>& x) {
    double mean = 0;
    for (const double value : b) mean += value / static_cast<double>(b.size());
    for (std::size_t row = 0; row < b.size(); ++row) {
        if (problem.singular()) b[row] -= mean;
        for (auto at = static_cast<std::size_t>(A.begin[row]); at < static_cast<std::size_t>(A.begin[row + 1]); ++at)
            b[row] -= A.value[at] * x[static_cast<std::size_t>(A.column[at])];
    }
    return b;
}

TEST(BoxOfMatrix, FindsTheFacesBetweenCellsAndTheConditions) {
    for (const auto& problem : problems()) {
        const auto A = poisson_matrix(problem);
        const auto [nx, ny, nz] = problem.cells;
        for (const auto& space : matrix_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    const Uploaded<S> there(on, A);
                    const BoxCells cells{{static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nz)}};
                    const auto faces = faces_of_matrix(on, there.view(), cells);
                    EXPECT_EQ(faces.singular, problem.singular());
                    for (int d = 0; d < 3; ++d) {
                        const auto got = to_host(faces.across[static_cast<std::size_t>(d)]), wanted = face_conductances(problem, d);
                        ASSERT_EQ(got.size(), wanted.size());
                        const bool told_apart = problem.cells[0] > 2 && problem.cells[1] > 2 && problem.cells[2] > 2;
                        const index_t step = cells.face_step(d), n = cells.n[d];
                        for (std::size_t f = 0; f < got.size(); ++f) {
                            const auto along = static_cast<index_t>(f) / step % (n + 1);
                            if (along > 0 && along < n) {
                                EXPECT_EQ(got[f], wanted[f]);
                            }
                        }
                        // Faces at corners and edges are divided as their neighbours with one face are: the middle of each side is exact.
                        const index_t middle[3] = {nx / 2, ny / 2, nz / 2};
                        for (const bool upper : {false, true}) {
                            int at[3] = {static_cast<int>(middle[0]), static_cast<int>(middle[1]), static_cast<int>(middle[2])};
                            at[d] = upper ? cells.n[d] - 1 : 0;
                            const auto f =
                                static_cast<std::size_t>(cells.lower_face(d, at[0], at[1], at[2]) + (upper ? cells.face_step(d) : 0));
                            if (told_apart) {
                                EXPECT_NEAR(got[f], wanted[f], 1e-13 * std::abs(A.value[0]) + 1e-14 * wanted[f]);
                            }
                        }
                    }
                },
                space);
    }
}

TEST(BoxOfMatrix, ItsOperatorIsTheMatrix) {
    for (const auto& problem : problems()) {
        const auto A = poisson_matrix(problem);
        RandomStream random(7, 0);
        std::vector<double> x;
        for (index_t c = 0; c < problem.rows(); ++c) x.push_back(random.uniform() - 0.5);
        const auto wanted = residual_of(problem_of(1, 1, 1), A, std::vector<double>(x.size(), 0.), x);  // -A x
        for (const auto& space : matrix_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    const Uploaded<S> there(on, A);
                    const BoxCells cells{
                        {static_cast<int>(problem.cells[0]), static_cast<int>(problem.cells[1]), static_cast<int>(problem.cells[2])}};
                    const BoxOperator<S> box(on, faces_of_matrix(on, there.view(), cells));
                    VectorAlgebra<S> algebra(on);
                    const auto in = to_space(on, x);
                    Buffer<double, S> out(on, in.size());
                    box.apply(algebra, in, out);
                    const auto got = to_host(out);
                    std::vector<double> difference(x.size());
                    for (std::size_t row = 0; row < x.size(); ++row) difference[row] = got[row] + wanted[row];
                    EXPECT_LE(norm(difference), 1e-13 * norm(wanted));
                },
                space);
    }
}

TEST(BoxOfMatrix, SolvesInAsManyIterationsAsTheProblem) {
    for (const auto& problem : problems()) {
        const auto A = poisson_matrix(problem);
        const auto b = poisson_rhs(problem);
        for (const auto& space : matrix_spaces())
            std::visit(
                [&]<Space S>(S on) {
                    const Uploaded<S> there(on, A);
                    const PoissonSolverOptions options{.rtol = 1e-9, .iteration_limit = 100};
                    auto of_matrix = PoissonSolver::of_matrix(space, there.view(), problem.cells, options);
                    PoissonSolver of_problem(space, problem, options);
                    std::vector<double> x(b.size(), 0.), y(b.size(), 0.);
                    const auto log = of_matrix.solve(view(b), view(x));
                    const auto expected = of_problem.solve(view(b), view(y));
                    EXPECT_TRUE(log.converged());
                    EXPECT_LE(log.iterations, expected.iterations + 2);
                    EXPECT_LE(norm(residual_of(problem, A, b, x)), 1.1e-9 * norm(b));
                },
                space);
    }
}

#if defined(KASANE_CUDA)
TEST(BoxOfMatrix, SolvesInTheMemoryOfADevice) {
    const auto problem = problems()[3];
    const auto A = poisson_matrix(problem);
    const auto b = poisson_rhs(problem);
    std::vector<double> x(b.size(), 0.);
    auto here = PoissonSolver::of_matrix(Cpu{1}, A.view(), problem.cells, {.rtol = 1e-9});
    EXPECT_THROW(here.solve_on_device(view(b), view(x)), LogicError);
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const Cuda on;
    const Uploaded<Cuda> there(on, A);
    auto solver = PoissonSolver::of_matrix(on, there.view(), problem.cells, {.rtol = 1e-9});
    const auto b_there = to_space(on, b);
    auto x_there = to_space(on, x);
    for (int repeat = 0; repeat < 2; ++repeat) {
        copy_from_host(on, x_there.view(), view(x));
        const auto log = solver.solve_on_device(b_there.view(), x_there.view());
        EXPECT_TRUE(log.converged());
        EXPECT_LE(norm(residual_of(problem, A, b, to_host(x_there))), 1.1e-9 * norm(b));
    }
    auto wrong = b;
    wrong[17] = std::numeric_limits<double>::quiet_NaN();
    const auto wrong_there = to_space(on, wrong);
    EXPECT_THROW(solver.solve_on_device(wrong_there.view(), x_there.view()), InputError);
}
#endif

std::string why_not(const CsrMatrix& A, std::array<index_t, 3> cells) {
    std::string first;
    for (const auto& space : matrix_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const Uploaded<S> there(on, A);
                std::string why = "accepted";
                try {
                    PoissonSolver::of_matrix(space, there.view(), cells);
                } catch (const InputError& error) {
                    why = error.what();
                }
                if (first.empty()) first = why;
                EXPECT_EQ(why, first);
            },
            space);
    return first;
}

TEST(BoxOfMatrix, NamesTheRowOfAnyOtherMatrix) {
    const auto good = poisson_matrix(problem_of(4, 3, 5));
    const auto changed = [&](const auto& change) {
        auto A = good;
        change(A);
        return why_not(A, {4, 3, 5});
    };
    const auto entry = [](const CsrMatrix& A, index_t row, index_t column) {
        for (auto e = A.begin[static_cast<std::size_t>(row)];; ++e)
            if (A.column[static_cast<std::size_t>(e)] == column) return static_cast<std::size_t>(e);
    };
    EXPECT_EQ(changed([](CsrMatrix&) {}), "accepted");
    EXPECT_NE(why_not(good, {3, 4, 5}).find("row 1 of the matrix has an entry twice, or one that couples cells that are not neighbours"),
              std::string::npos);
    EXPECT_NE(why_not(good, {4, 3, 4}).find("60 rows: a box of 4 x 3 x 4 cells has 48"), std::string::npos);
    EXPECT_NE(why_not(good, {4, 0, 5}).find("at least 1"), std::string::npos);
    // Cell (1, 1, 2) is row 29, inside the box.
    EXPECT_NE(changed([&](CsrMatrix& A) { A.value[entry(A, 29, 30)] = 1; }).find("row 30 of the matrix has a positive entry"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) {
                  A.value[entry(A, 29, 29)] -= A.value[entry(A, 29, 30)];
                  A.value[entry(A, 29, 30)] *= 2;
              }).find("row 31 of the matrix differs from its column"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) { A.value[entry(A, 29, 29)] *= 2; }).find("row 30 of the matrix belongs to a cell inside the box"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) { A.value[entry(A, 0, 0)] /= 2; }).find("row 1 of the matrix has a diagonal that is smaller"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) {
                  A.value[entry(A, 7, 7)] = std::numeric_limits<double>::quiet_NaN();
              }).find("row 8 of the matrix has an entry that is not finite"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) { A.begin[3] = A.begin[2] - 1; }).find("row 3 of the matrix has offsets that descend"),
              std::string::npos);
    EXPECT_NE(changed([&](CsrMatrix& A) { A.begin[3] = 1000000; }).find("row 3 of the matrix has offsets that descend or exceed"),
              std::string::npos);
    EXPECT_THROW(PoissonSolver::of_matrix(Cpu{1}, good.view(), {4, 3, 5}, {.rtol = 2}), InputError);

    auto periodic = problem_of(4, 3, 6);
    periodic.boundary[4].kind = periodic.boundary[5].kind = BoundaryKind::periodic;
    auto A = poisson_matrix(periodic);
    EXPECT_EQ(why_not(A, {4, 3, 6}), "accepted");
    A.value[entry(A, 0, 60)] *= 2;  // its diagonal, too, is wrong now, and the lower row is named first
    EXPECT_NE(why_not(A, {4, 3, 6}).find("row 1 of the matrix"), std::string::npos);
    periodic.boundary[2].kind = periodic.boundary[3].kind = BoundaryKind::periodic;
    EXPECT_NE(why_not(poisson_matrix(periodic), {4, 3, 6}).find("last cell along y of a box of 4 x 3 x 6 cells"), std::string::npos);
}

}  // namespace
}  // namespace kasane::sparse
