// Deterministic sums: right, at sizes around a block, and the same bits for any number of threads.
#include <kasane/core/device/sum.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kasane {
namespace {

struct Term {
    KS_FN Terms<2> operator()(index_t i) const { return {{static_cast<double>(i), std::sin(static_cast<double>(i))}}; }
};

TEST(Sum, AddsEveryTermOnce) {
    for (const index_t n : {0, 1, 2, 127, 128, 129, 255, 256, 257, 1000, 100000})
        EXPECT_EQ(sum<2>(Cpu{1}, n, Term{})[0], static_cast<double>(n) * static_cast<double>(n - 1) / 2) << n;  // whole numbers are exact
}

TEST(Sum, HasTheSameBitsForAnyNumberOfThreads) {
    const auto one = sum<2>(Cpu{1}, 100003, Term{});
    for (const int threads : {2, 3, 7}) EXPECT_EQ(sum<2>(Cpu{threads}, 100003, Term{})[1], one[1]);
    // sum sin i = sin(n / 2) sin((n - 1) / 2) / sin(1 / 2), as long as it is, to the roundings of 10^5 terms
    EXPECT_NEAR(one[1], std::sin(100003 / 2.) * std::sin(100002 / 2.) / std::sin(0.5), 1e-10);
}

}  // namespace
}  // namespace kasane
