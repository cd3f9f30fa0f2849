// Smallest eigenvalues of sparse matrices: analytic spectra of Laplacians, dense decompositions, and refusals.
#include <kasane/core/base/error.hpp>
#include <kasane/krylov/symmetric_eigen.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include "sparse/aggregation/elasticity.hpp"
#include "sparse/order/graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace kasane::sparse {
namespace {

std::vector<AnySpace> eigen_spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

PoissonProblem unit_box(std::array<index_t, 3> n, BoundaryKind kind) {
    PoissonProblem problem;
    problem.cells = n;
    problem.source.assign(static_cast<std::size_t>(n[0] * n[1] * n[2]), 0.);
    for (auto& face : problem.boundary) face = {kind, 0};
    return problem;
}

/// Eigenvalues of the finite volumes with zero flux through every face: sums of 2 - 2 cos(pi m / n) over the directions.
std::vector<double> neumann_spectrum(std::array<index_t, 3> n) {
    std::vector<double> all;
    const auto one = [](index_t m, index_t cells) {
        return 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(m) / static_cast<double>(cells));
    };
    for (index_t i = 0; i < n[0]; ++i)
        for (index_t j = 0; j < n[1]; ++j)
            for (index_t k = 0; k < n[2]; ++k) all.push_back(one(i, n[0]) + one(j, n[1]) + one(k, n[2]));
    std::sort(all.begin(), all.end());
    return all;
}

/// With the potential held at every face, half a cell from the centres, the values are those of m = 1, ..., n.
std::vector<double> dirichlet_spectrum(std::array<index_t, 3> n) {
    std::vector<double> all;
    const auto one = [](index_t m, index_t cells) {
        return 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(m + 1) / static_cast<double>(cells));
    };
    for (index_t i = 0; i < n[0]; ++i)
        for (index_t j = 0; j < n[1]; ++j)
            for (index_t k = 0; k < n[2]; ++k) all.push_back(one(i, n[0]) + one(j, n[1]) + one(k, n[2]));
    std::sort(all.begin(), all.end());
    return all;
}

double residual_of(const CsrMatrix& A, const std::vector<double>& x, double value) {
    double r2 = 0, x2 = 0;
    for (std::size_t row = 0; row < x.size(); ++row) {
        double r = -value * x[row];
        for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
            r += A.value[e] * x[static_cast<std::size_t>(A.column[e])];
        r2 += r * r, x2 += x[row] * x[row];
    }
    return std::sqrt(r2 / x2);
}

void expect_pairs(const CsrMatrix& A, const Eigenpairs& found, const std::vector<double>& exact, double rtol, const std::string& name) {
    ASSERT_TRUE(found.converged()) << name << ": " << krylov::name(found.end);
    const double scale = exact[found.values.size() - 1];
    for (std::size_t j = 0; j < found.values.size(); ++j) {
        // An eigenvalue is as near as the residual; its error is of the order of the square.
        EXPECT_NEAR(found.values[j], exact[j], rtol * scale) << name << ", " << j;
        EXPECT_LE(residual_of(A, found.vectors[j], found.values[j]), 1.01 * rtol * scale) << name << ", " << j;
        EXPECT_NEAR(found.residuals[j], residual_of(A, found.vectors[j], found.values[j]), 0.01 * rtol * scale);
        for (std::size_t k = 0; k <= j; ++k) {
            double product = 0;
            for (std::size_t i = 0; i < found.vectors[j].size(); ++i) product += found.vectors[j][i] * found.vectors[k][i];
            EXPECT_NEAR(product, j == k ? 1 : 0, 1e-8) << name;
        }
    }
}

TEST(Eigenpairs, AreThoseOfTheLaplacian) {
    for (const auto& on : eigen_spaces()) {
        const std::array<index_t, 3> n = {20, 20, 20}, flat = {40, 30, 1};
        EigenOptions options;
        options.count = 7;  // 1, 3 and 3 that coincide
        auto A = poisson_matrix(unit_box(n, BoundaryKind::dirichlet));
        const auto held = eigenpairs(on, A.view(), options);
        expect_pairs(A, held, dirichlet_spectrum(n), options.rtol, "potential held");
        EXPECT_LE(held.iterations, 20);
        A = poisson_matrix(unit_box(n, BoundaryKind::neumann));
        expect_pairs(A, eigenpairs(on, A.view(), options), neumann_spectrum(n), options.rtol, "no flux");
        auto sheet = unit_box(flat, BoundaryKind::neumann);
        A = poisson_matrix(sheet);
        options.rtol = 1e-8;
        expect_pairs(A, eigenpairs(on, A.view(), options), neumann_spectrum(flat), options.rtol, "a sheet");
    }
}

TEST(Eigenpairs, TakeAnyPreconditioner) {
    const std::array<index_t, 3> n = {9, 8, 7};
    const auto A = poisson_matrix(unit_box(n, BoundaryKind::dirichlet));
    int before = 1 << 30;
    for (const auto kind : {Precondition::none, Precondition::multigrid}) {
        EigenOptions options;
        options.count = 4;
        options.rtol = 1e-7;
        options.precondition = kind;
        const auto found = eigenpairs(Cpu{2}, A.view(), options);
        expect_pairs(A, found, dirichlet_spectrum(n), options.rtol, name(kind));
        EXPECT_LT(found.iterations, before);
        before = found.iterations;
        options.precondition = Precondition::jacobi;
        expect_pairs(A, eigenpairs(Cpu{2}, A.view(), options), dirichlet_spectrum(n), options.rtol, "jacobi");
    }
}

/// Matrices without an analytic spectrum, against rotations of the dense matrix.
TEST(Eigenpairs, AreThoseOfTheDenseMatrix) {
    const auto body = elasticity(2, {9, 6, 0});
    for (const auto& [A, near_null] : {std::pair{random_graph(150, 400, 2), NearNullOptions{}}, {body.A, {body.rigid, body.modes, 2}}}) {
        const auto rows = static_cast<std::size_t>(A.rows());
        std::vector<double> dense(rows * rows, 0.);
        for (std::size_t row = 0; row < rows; ++row)
            for (auto e = static_cast<std::size_t>(A.begin[row]); e < static_cast<std::size_t>(A.begin[row + 1]); ++e)
                dense[row * rows + static_cast<std::size_t>(A.column[e])] = A.value[e];
        EigenOptions options;
        options.count = 5;
        options.near_null = near_null;
        expect_pairs(A, eigenpairs(Cpu{2}, A.view(), options), krylov::symmetric_eigen(dense, rows).values, options.rtol, "dense");
    }
}

TEST(Eigenpairs, DoNotDependOnThreads) {
    const auto A = poisson_matrix(unit_box({14, 13, 12}, BoundaryKind::dirichlet));
    EigenOptions options;
    options.count = 3;
    const auto one = eigenpairs(Cpu{1}, A.view(), options), three = eigenpairs(Cpu{3}, A.view(), options);
    EXPECT_EQ(one.values, three.values);
    EXPECT_EQ(one.vectors, three.vectors);
}

TEST(Eigenpairs, RefuseWhatCannotBeAsked) {
    const auto A = poisson_matrix(unit_box({5, 5, 5}, BoundaryKind::dirichlet));
    const auto refused = [&](EigenOptions options, const std::string& word) {
        try {
            eigenpairs(Cpu{1}, A.view(), options);
            FAIL() << word;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    };
    refused({.count = 0}, "at least one");
    refused({.count = 26}, "a fifth of the rows");
    refused({.rtol = 0}, "rtol");
    refused({.iteration_limit = 0}, "at least one iteration");
    refused({.precondition = Precondition::ic0}, "multigrid, jacobi and none, not ic0");
    EigenOptions few;
    few.iteration_limit = 1;
    few.precondition = Precondition::none;
    const auto found = eigenpairs(Cpu{1}, A.view(), few);
    EXPECT_EQ(found.end, krylov::Outcome::iteration_limit);
    EXPECT_EQ(found.values.size(), 1u);
}

}  // namespace
}  // namespace kasane::sparse
