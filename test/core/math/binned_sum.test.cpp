// Binned sums: the same bits in any order and grouping, and as accurate as a compensated sum.
#include <kasane/core/math/binned_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kasane {
namespace {

/// Terms over 17 decades and both signs, so that ordinary sums in different orders differ.
std::vector<double> terms(std::size_t n) {
    std::mt19937 generator(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> all(n);
    for (auto& term : all) term = uniform(generator) * std::exp(20 * uniform(generator) - 20);
    return all;
}

template <int parts>
void check(double unit) {
    auto all = terms(100'003);
    double size = 0;
    long double exact = 0;
    for (const double term : all) size += std::abs(term), exact += term;
    const Bins<parts> bins(size);
    BinnedSum<parts> first;
    for (const double term : all) first.add(bins, term);
    // Every term loses less than half of the last unit, which is below `unit` times twice the bound; and value() rounds.
    EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(first.value()) - exact)),
              static_cast<double>(all.size()) * unit * size + 0x1p-52 * std::abs(first.value()));
    std::mt19937 generator(5);
    for (int turn = 0; turn < 5; ++turn) {
        std::shuffle(all.begin(), all.end(), generator);
        BinnedSum<parts> grouped[7];
        for (std::size_t i = 0; i < all.size(); ++i) grouped[i * 7 / all.size()].add(bins, all[i]);
        BinnedSum<parts> sum;
        for (const int g : {3, 0, 6, 1, 5, 2, 4}) sum.add(grouped[g]);
        for (int k = 0; k < parts; ++k) EXPECT_EQ(sum.part[k], first.part[k]);
    }
}

TEST(BinnedSum, SameBitsInAnyOrderAndGrouping) {
    check<2>(0x1p-78);
    check<3>(0x1p-105);
}

TEST(BinnedSum, OrdinarySumsDoDependOnTheOrder) {  // otherwise the test above proves nothing
    auto all = terms(100'003);
    double forward = 0, backward = 0;
    for (const double term : all) forward += term;
    std::reverse(all.begin(), all.end());
    for (const double term : all) backward += term;
    EXPECT_NE(forward, backward);
}

TEST(BinnedSum, AboveTheBoundItIsAnOrdinarySum) {
    const Bins<2> bins(1.0);
    BinnedSum<2> sum;
    for (int k = 0; k < 10; ++k) sum.add(bins, 1e20);
    EXPECT_NEAR(sum.value(), 1e21, 1e21 * 1e-14);
}

}  // namespace
}  // namespace kasane
