// When domains are chosen anew.
#include <kasane/gravity/domain/domain_balance.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kasane::gravity {
namespace {

constexpr index_t particles = 1000;
constexpr double work = 1500;  ///< interactions of a particle in a step

/// Reports a step of four workers, of which the first has `more` times the mean work.
void walk(DomainBalance& balance, double more) {
    const double mean = work * particles / 4, others = (4 - more) / 3 * mean;
    balance.walked({{250, more * mean, 0}, {250, others, 0}, {250, others, 0}, {250, others, 0}});
}

/// A balance after the two divisions at the beginning, whose work is then even.
DomainBalance begun() {
    DomainBalance balance(particles, 4);
    for (int k = 0; k < 2; ++k) {
        EXPECT_TRUE(balance.due());
        balance.divided();
        walk(balance, k == 0 ? 1.5 : 1.01);
    }
    EXPECT_FALSE(balance.due());
    return balance;
}

TEST(DomainBalance, DividesWhenTheLostWorkIsThatOfADivision) {
    auto balance = begun();
    // A division is worth 100 / 1500 = 0.067 of the mean work of a step; 0.02 of it are lost in each.
    for (int k = 0; k < 3; ++k) {
        walk(balance, 1.03);
        EXPECT_FALSE(balance.due()) << k;
    }
    walk(balance, 1.03);
    EXPECT_TRUE(balance.due());
    balance.divided();
    walk(balance, 1.01);
    EXPECT_FALSE(balance.due()) << "the sum begins again";
}

TEST(DomainBalance, DoesNotDivideForABalanceThatDivisionsDoNotReach) {
    auto balance = begun();
    for (int k = 0; k < 100; ++k) walk(balance, 1.01);
    EXPECT_FALSE(balance.due());
}

TEST(DomainBalance, IgnoresStepsWithoutWork) {
    DomainBalance balance(particles, 4);
    balance.divided();
    balance.divided();
    balance.walked({{}, {}, {}, {}});
    EXPECT_FALSE(balance.due());
}

}  // namespace
}  // namespace kasane::gravity
