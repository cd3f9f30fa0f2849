// Fields on the cells of a Poisson problem: values at the centres, solutions, differences.
#pragma once

#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace kasane::sparse::test {

using Field = std::vector<double>;

inline Field centre_values(const PoissonProblem& problem, const std::function<double(double, double, double)>& f) {
    const auto x = cell_centres(problem, 0), y = cell_centres(problem, 1), z = cell_centres(problem, 2);
    Field all;
    for (const double c : z)
        for (const double b : y)
            for (const double a : x) all.push_back(f(a, b, c));
    return all;
}

/// By conjugate gradients with the matrix.
inline Field solve(const PoissonProblem& problem, double rtol = 1e-12, const AnySpace& on = Cpu{2}) {
    SolverOptions options;
    options.rtol = rtol;
    const auto A = poisson_matrix(problem);
    SolveLog log;
    auto phi = Solver(on, A.view(), options).solve(poisson_rhs(problem), &log);
    EXPECT_TRUE(log.converged()) << log.true_residual;
    return phi;
}

/// Infinite for fields of different sizes.
inline double largest_difference(const Field& a, const Field& b) {
    double worst = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
    return a.size() == b.size() ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace kasane::sparse::test
