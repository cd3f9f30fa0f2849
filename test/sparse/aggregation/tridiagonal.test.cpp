// The largest eigenvalue of tridiagonal matrices against all eigenvalues by Jacobi's rotations and against a formula.
#include <kasane/core/math/random.hpp>
#include <kasane/krylov/symmetric_eigen.hpp>
#include <kasane/sparse/aggregation/tridiagonal.hpp>

#include <gtest/gtest.h>

#include <numbers>

namespace kasane::sparse {
namespace {

TEST(Tridiagonal, LargestEigenvalueIsThatOfAllEigenvalues) {
    RandomStream random(11, 0);
    for (std::size_t n = 1; n <= 20; ++n)
        for (int repeat = 0; repeat < 10; ++repeat) {
            std::vector<double> diagonal, beside, dense(n * n, 0.);
            for (std::size_t k = 0; k < n; ++k) {
                diagonal.push_back(2 * random.uniform() - 1);
                beside.push_back(random.uniform() < 0.2 ? 0 : 2 * random.uniform() - 1);
                dense[k * n + k] = diagonal[k];
                if (k > 0) dense[k * n + k - 1] = dense[(k - 1) * n + k] = beside[k - 1];
            }
            EXPECT_NEAR(largest_of_tridiagonal(diagonal, beside), krylov::symmetric_eigen(dense, n).values.back(), 1e-13) << n;
        }
}

TEST(Tridiagonal, LargestEigenvalueOfTheSecondDifference) {
    for (const std::size_t n : {1u, 2u, 16u, 1000u}) {
        const std::vector<double> diagonal(n, 2.), beside(n, -1.);
        const double wanted = 2 + 2 * std::cos(std::numbers::pi / static_cast<double>(n + 1));
        EXPECT_NEAR(largest_of_tridiagonal(diagonal, beside), wanted, 1e-14 * static_cast<double>(n));
    }
    EXPECT_EQ(largest_of_tridiagonal({}, {}), 0);
}

}  // namespace
}  // namespace kasane::sparse
