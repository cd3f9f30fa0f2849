// Iterations against the number of colours: on the box of 32^3 unit cells, source i + j + k, to 1e-8 from zero, by the oracle of ICCG.
// Rounding moves a count by one at most; 2 are allowed, as everywhere for this problem.
#include "reference/iccg.hpp"
#include "sparse/box.hpp"
#include "sparse/order/check_order.hpp"

#include <gtest/gtest.h>

namespace kasane::sparse {
namespace {

constexpr BoxSize cells{32, 32, 32};

int iterations(const std::string& ordering, int* colors = nullptr) {
    static const auto A = box_matrix(cells);
    static const auto b = box_source(cells);
    const auto order = order_rows(A.view(), Ordering::parse(ordering));
    if (colors) *colors = order.colors();
    const auto result = reference::iccg(A.view(), b, elimination(order), 1e-8, 500);
    EXPECT_TRUE(result.converged) << ordering;
    return result.iterations;
}

TEST(OrderingIterations, AreTheKnownOnes) {
    struct Known {
        std::string ordering;
        int iterations, colors;
    };
    for (const auto& known :
         {Known{"natural", 75, 94}, Known{"rcm", 73, 94}, Known{"cm-rcm:2", 115, 2}, Known{"cm-rcm:3", 103, 3}, Known{"cm-rcm:8", 88, 8},
          Known{"cm-rcm:20", 85, 20}, Known{"mc:2", 115, 2}, Known{"mc:3", 132, 6}, Known{"mc:8", 113, 8}, Known{"mc:20", 125, 22}}) {
        int colors = 0;
        EXPECT_NEAR(iterations(known.ordering, &colors), known.iterations, 2) << known.ordering;
        EXPECT_EQ(colors, known.colors) << known.ordering;
    }
}

TEST(OrderingIterations, BlocksTakeFewerAtFewColors) {
    // Two colours of blocks need little more than the 75 of the natural order, where two colours of rows take 115.
    for (const auto& [ordering, known] : {std::pair{"block:8:2", 89}, {"block:8:4", 85}, {"block:32:2", 82}, {"block:128:2", 84}})
        EXPECT_NEAR(iterations(ordering), known, 2) << ordering;
}

TEST(OrderingIterations, WavefrontsKeepTheOrderOfElimination) {
    // The factor of the wavefront order is the natural one's, and so is every iterate up to rounding.
    const BoxSize n{9, 8, 7};
    const auto A = box_matrix(n);
    const auto b = box_source(n);
    const auto order = order_rows(A.view(), Ordering::parse("natural"));
    const auto r = reference::IncompleteCholesky(A.view(), elimination(order)).solve(b);
    const auto s = reference::IncompleteCholesky(A.view(), reference::natural_order(A.rows())).solve(b);
    for (std::size_t i = 0; i < r.size(); ++i) ASSERT_NEAR(r[i], s[i], 1e-12 * std::abs(s[i])) << i;  // some hundred roundings of 1e-16
}

}  // namespace
}  // namespace kasane::sparse
