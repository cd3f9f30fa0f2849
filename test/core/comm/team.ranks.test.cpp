// Teams of several ranks, with one, two and three members each.
#include <test/core/comm/team_cases.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::comm;
using namespace kasane::test;

class TeamOfRanks : public testing::TestWithParam<int> {};

TEST_P(TeamOfRanks, EveryMemberRunsOnceOnItsOwnThread) { every_member_runs_once_on_its_own_thread(world(), GetParam()); }
TEST_P(TeamOfRanks, ABarrierLetsNobodyAhead) { a_barrier_lets_nobody_ahead(world(), GetParam()); }
TEST_P(TeamOfRanks, SumsAreThoseOfTheMembersInOrder) { sums_are_those_of_the_members_in_order(world(), GetParam()); }
TEST_P(TeamOfRanks, EveryMemberCanBroadcast) { every_member_can_broadcast(world(), GetParam()); }
TEST_P(TeamOfRanks, WhatIsHandedOverArrivesInOrder) { what_is_handed_over_arrives_in_order(world(), GetParam()); }
TEST_P(TeamOfRanks, WhatAllThrowIsThrownHere) { what_all_throw_is_thrown_here(world(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(Members, TeamOfRanks, testing::Values(1, 2, 3));

/// Members of all ranks in a ring, each sending to the next and receiving from the one before, from their own threads at the same time.
TEST(TeamOfRanks, MembersSendFromTheirOwnThreads) {
    auto& ranks = world();
    Team team(ranks, 3);
    team.run([&](Member& member) {
        const int next = (member.index() + 3) % member.size(), before = (member.index() + member.size() - 3) % member.size();
        for (int turn = 0; turn < 50; ++turn) {
            const std::size_t n = static_cast<std::size_t>(turn * turn * 10 + 1);
            std::vector<double> mine(n, member.index() + 0.5 * turn), theirs(n);
            const auto receipt = ranks.start_receive(theirs.data(), n * sizeof(double), member.rank_of(before), member.local());
            const auto sent = ranks.start_send(mine.data(), n * sizeof(double), member.rank_of(next), member.local());
            ranks.wait(receipt);
            ranks.wait(sent);
            EXPECT_EQ(theirs, std::vector<double>(n, before + 0.5 * turn));
        }
    });
}

TEST(TeamOfRanks, RefusesDifferentNumbersOfMembers) {
    auto& ranks = world();
    if (ranks.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
    try {
        Team team(ranks, ranks.rank() == ranks.size() - 1 ? 2 : 1);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(ranks.size() - 1) + " has 2"), std::string::npos) << error.what();
    }
}

}  // namespace
