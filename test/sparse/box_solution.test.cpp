// The benchmarks' exact solution against values of other codes, and against its own equations.
#include <bench/sparse/box_solution.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace kasane::bench {
namespace {

TEST(BoxSolution, FirstAndLastCellAreThoseOfOtherCodes) {
    struct Known {
        index_t side;
        double first, last;
    };
    for (const auto& [side, first, last] :
         {Known{128, 1.250508e6, 1.459831e4}, Known{64, 1.578581e5, 3.672989e3}, Known{32, 2.012056e4, 9.297409e2}}) {
        const auto phi = box_solution(side);
        // The known values have seven digits.
        EXPECT_NEAR(phi.front() / first, 1, 5e-7) << side;
        EXPECT_NEAR(phi.back() / last, 1, 5e-7) << side;
    }
}

TEST(BoxSolution, EveryCellSatisfiesItsEquation) {
    for (const index_t n : {1, 2, 3, 10}) {
        const auto phi = box_solution(n);
        const auto at = [&](index_t i, index_t j, index_t k) { return phi[static_cast<std::size_t>(i + n * (j + n * k))]; };
        for (index_t k = 0; k < n; ++k)
            for (index_t j = 0; j < n; ++j)
                for (index_t i = 0; i < n; ++i) {
                    double flux = k == n - 1 ? 2 * at(i, j, k) : 0;
                    for (const auto& [a, b, c] :
                         {std::array{i - 1, j, k}, {i + 1, j, k}, {i, j - 1, k}, {i, j + 1, k}, {i, j, k - 1}, {i, j, k + 1}})
                        if (a >= 0 && b >= 0 && c >= 0 && a < n && b < n && c < n) flux += at(i, j, k) - at(a, b, c);
                    // Differences of numbers of up to n^3 each: some 1000 eps at n = 10.
                    EXPECT_NEAR(flux, static_cast<double>(i + j + k + 3), 1e-12 * std::pow(static_cast<double>(n), 3) * 10);
                }
    }
}

}  // namespace
}  // namespace kasane::bench
