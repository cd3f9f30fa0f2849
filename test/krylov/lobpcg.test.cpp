// The smallest eigenvalues by LOBPCG, and those of small dense matrices by rotations, against their definitions.
#include <kasane/core/math/random.hpp>
#include <kasane/krylov/host_algebra.hpp>
#include <kasane/krylov/lobpcg.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kasane::krylov {
namespace {

using DenseMatrix = std::vector<double>;  // [n][n]

DenseMatrix random_positive(std::size_t n, std::uint64_t seed) {
    RandomStream random(seed, 0);
    DenseMatrix B(n * n), A(n * n, 0.);
    for (double& value : B) value = random.uniform() - 0.5;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < n; ++k) A[i * n + j] += B[i * n + k] * B[j * n + k];
    return A;
}

struct DenseOperator {
    const DenseMatrix& A;
    void apply(HostAlgebra&, const std::vector<double>& in, std::vector<double>& out) const {
        for (std::size_t i = 0; i < in.size(); ++i) {
            out[i] = 0;
            for (std::size_t j = 0; j < in.size(); ++j) out[i] += A[i * in.size() + j] * in[j];
        }
    }
};

std::vector<std::vector<double>> random_start(std::size_t n, std::size_t count) {
    std::vector<std::vector<double>> X(count, std::vector<double>(n));
    for (std::size_t j = 0; j < count; ++j)
        for (std::size_t i = 0; i < n; ++i) X[j][i] = RandomStream(j + 1, i).uniform() - 0.5;
    return X;
}

TEST(SymmetricEigen, DecomposesMatrices) {
    for (const std::size_t n : {1u, 2u, 7u, 40u}) {
        auto A = random_positive(n, n);
        for (std::size_t i = 0; i < n; ++i) A[i * n + i] -= 1;  // also negative eigenvalues
        const auto [values, V] = symmetric_eigen(A, n);
        for (std::size_t j = 0; j < n; ++j) {
            if (j > 0) {
                EXPECT_LE(values[j - 1], values[j]);
            }
            for (std::size_t i = 0; i < n; ++i) {
                double Av = 0, VtV = 0;
                for (std::size_t k = 0; k < n; ++k) Av += A[i * n + k] * V[k * n + j], VtV += V[k * n + i] * V[k * n + j];
                EXPECT_NEAR(Av, values[j] * V[i * n + j], 1e-13 * static_cast<double>(n));
                EXPECT_NEAR(VtV, i == j ? 1 : 0, 1e-13);
            }
        }
    }
}

/// With eigenvalues that coincide, and one of 0.
TEST(SymmetricEigen, ResolvesMultipleEigenvalues) {
    const std::size_t n = 6;
    DenseMatrix A(n * n, -1);
    for (std::size_t i = 0; i < n; ++i) A[i * n + i] = static_cast<double>(n) - 1;
    const auto values = symmetric_eigen(A, n).values;
    EXPECT_NEAR(values[0], 0, 1e-14);
    for (std::size_t j = 1; j < n; ++j) EXPECT_NEAR(values[j], 6, 1e-13);
}

TEST(Lobpcg, FindsTheEigenvaluesOfADenseMatrix) {
    const std::size_t n = 60;
    const auto A = random_positive(n, 5);
    const auto exact = symmetric_eigen(A, n).values;
    HostAlgebra algebra(Cpu{1});
    auto X = random_start(n, 8);
    Options options;
    options.rtol = 1e-7;
    options.iteration_limit = 2000;
    const auto log = lobpcg(algebra, DenseOperator{A}, NoPreconditioner{}, X, 5, options);
    EXPECT_EQ(log.end, Outcome::converged);
    for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_NEAR(log.values[j], exact[j], 1e-6 * exact[4]) << j;
        std::vector<double> AX(n);
        DenseOperator{A}.apply(algebra, X[j], AX);
        double residual = 0;
        for (std::size_t i = 0; i < n; ++i) residual += std::pow(AX[i] - log.values[j] * X[j][i], 2);
        EXPECT_LE(std::sqrt(residual), 1e-7 * log.scale * 1.001) << j;
        for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(algebra.dot(X[j], X[k]), j == k ? 1 : 0, 1e-9);
    }
}

TEST(Lobpcg, ReportsLimitsStopsAndNonFiniteNumbers) {
    const std::size_t n = 60;
    auto A = random_positive(n, 5);
    HostAlgebra algebra(Cpu{1});
    Options options;
    options.rtol = 1e-12;
    options.iteration_limit = 3;
    auto X = random_start(n, 3);
    const auto few = lobpcg(algebra, DenseOperator{A}, NoPreconditioner{}, X, 2, options);
    EXPECT_EQ(few.end, Outcome::iteration_limit);
    EXPECT_EQ(few.iterations, 3);
    options.stop = [](int iteration, double) { return iteration == 2; };
    X = random_start(n, 3);
    const auto stopped = lobpcg(algebra, DenseOperator{A}, NoPreconditioner{}, X, 2, options);
    EXPECT_EQ(stopped.end, Outcome::stopped);
    EXPECT_EQ(stopped.iterations, 2);
    options.stop = {};
    X = random_start(n, 3);
    X[1] = X[0];  // the start spans fewer directions than it has vectors
    EXPECT_EQ(lobpcg(algebra, DenseOperator{A}, NoPreconditioner{}, X, 2, options).end, Outcome::breakdown);
    A[7] = std::numeric_limits<double>::quiet_NaN();
    X = random_start(n, 3);
    EXPECT_EQ(lobpcg(algebra, DenseOperator{A}, NoPreconditioner{}, X, 2, options).end, Outcome::not_finite);
}

}  // namespace
}  // namespace kasane::krylov
