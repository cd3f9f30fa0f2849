// Boxes, their solutions by PoissonSolver on every space, and their operator, residual and multigrid against the assembled matrix.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::sparse::test {

inline std::vector<AnySpace> box_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

/// Unit cells, source i + j + k, potential 0 on top, no flux elsewhere.
inline PoissonProblem box_problem(index_t nx, index_t ny, index_t nz) {
    PoissonProblem problem;
    problem.cells = {nx, ny, nz};
    for (index_t k = 1; k <= nz; ++k)
        for (index_t j = 1; j <= ny; ++j)
            for (index_t i = 1; i <= nx; ++i) problem.source.push_back(static_cast<double>(i + j + k));
    return problem;
}

/// The largest difference, in parts of the largest y.
inline double far(const std::vector<double>& x, const std::vector<double>& y) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        difference = std::max(difference, std::abs(x[i] - y[i])), size = std::max(size, std::abs(y[i]));
    return difference / size;
}

struct Solved {
    std::vector<double> x;
    SolveLog log;
};

inline Solved solved(const AnySpace& on, const PoissonProblem& problem, double rtol = 1e-10) {
    PoissonSolver solver(on, problem, {.rtol = rtol, .iteration_limit = 500});
    const auto b = poisson_rhs(problem);
    Solved result{std::vector<double>(b.size(), 0.), {}};
    result.log = solver.solve(view(b), view(result.x));
    return result;
}

/// ||b - A x|| / ||b|| with the assembled matrix.
inline double residual(const PoissonProblem& problem, const std::vector<double>& x) {
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

/// 1 or `large` for each cell, at random.
inline std::vector<double> random_jumps(index_t cells, double large) {
    RandomStream random(3, 0);
    std::vector<double> all;
    for (index_t c = 0; c < cells; ++c) all.push_back(random.uniform() < 0.5 ? 1 : large);
    return all;
}

/// The columns of BoxOperator are those of poisson_matrix().
inline void expect_operator_of_matrix(const PoissonProblem& problem) {
    const auto A = poisson_matrix(problem);
    const auto rows = static_cast<std::size_t>(problem.rows());
    const double largest = *std::ranges::max_element(A.value);
    for (const auto& space : box_spaces())
        std::visit(
            [&]<Space S>(S on) {
                const BoxOperator<S> op(on, problem);
                VectorAlgebra<S> algebra(on);
                for (std::size_t column = 0; column < rows; ++column) {
                    std::vector<double> unit(rows, 0.), wanted(rows, 0.);
                    unit[column] = 1;
                    const auto in = to_space(on, unit);
                    Buffer<double, S> out(on, in.size());
                    op.apply(algebra, in, out);
                    const auto got = to_host(out);
                    for (std::size_t row = 0; row < rows; ++row)
                        for (auto at = static_cast<std::size_t>(A.begin[row]); at < static_cast<std::size_t>(A.begin[row + 1]); ++at)
                            if (static_cast<std::size_t>(A.column[at]) == column) wanted[row] = A.value[at];
                    for (std::size_t row = 0; row < rows; ++row)
                        EXPECT_NEAR(got[row], wanted[row], 1e-13 * largest) << row << ", " << column;
                }
            },
            space);
}

/// The cycle is symmetric and positive: u.Mv = v.Mu and u.Mu > 0, to the rounding of float.
inline void expect_symmetric_positive_cycle(const PoissonProblem& problem) {
    RandomStream random(4, 0);
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
                    auto u = to_space(on, first), v = to_space(on, second);
                    if (problem.singular()) algebra.remove_mean(u), algebra.remove_mean(v);
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

}  // namespace kasane::sparse::test
