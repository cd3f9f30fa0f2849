// Teams of one rank: what members do together, and what becomes of a member that fails alone.
#include <test/core/comm/team_cases.hpp>

#include <gtest/gtest.h>

#include <omp.h>

namespace {

using namespace kasane;
using namespace kasane::comm;
using namespace kasane::test;

class TeamOfOneRank : public testing::TestWithParam<int> {
   protected:
    std::unique_ptr<Communicator> ranks = alone();
};

TEST_P(TeamOfOneRank, EveryMemberRunsOnceOnItsOwnThread) { every_member_runs_once_on_its_own_thread(*ranks, GetParam()); }
TEST_P(TeamOfOneRank, ABarrierLetsNobodyAhead) { a_barrier_lets_nobody_ahead(*ranks, GetParam()); }
TEST_P(TeamOfOneRank, SumsAreThoseOfTheMembersInOrder) { sums_are_those_of_the_members_in_order(*ranks, GetParam()); }
TEST_P(TeamOfOneRank, EveryMemberCanBroadcast) { every_member_can_broadcast(*ranks, GetParam()); }
TEST_P(TeamOfOneRank, WhatIsHandedOverArrivesInOrder) { what_is_handed_over_arrives_in_order(*ranks, GetParam()); }
TEST_P(TeamOfOneRank, WhatAllThrowIsThrownHere) { what_all_throw_is_thrown_here(*ranks, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Members, TeamOfOneRank, testing::Values(1, 2, 3, 8));

TEST(Team, AMemberOpensRegionsOfItsOwn) {
    const auto ranks = alone();
    Team team(*ranks, 2);
    std::vector<int> threads(2);
    team.run([&](Member& member) {
#pragma omp parallel num_threads(3)
#pragma omp single
        threads[static_cast<std::size_t>(member.local())] = omp_get_num_threads();
    });
    EXPECT_EQ(threads, std::vector<int>(2, 3));
}

TEST(Team, NeedsAMember) {
    const auto ranks = alone();
    EXPECT_THROW(Team(*ranks, 0), InputError);
}

class TeamDeath : public testing::Test {
   protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(TeamDeath, AMemberThatThrowsWhileOthersWaitForItEndsAll) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            Team team(*ranks, 3, {"cuda:0", "cuda:1", "cuda:2"});
            team.run([&](Member& member) {
                if (member.local() == 1) throw ComputationError("the device is lost");
                member.barrier();
            });
        },
        testing::ExitedWithCode(1), "^error: rank 0 \\(host [^,]+, cuda:1\\): the device is lost\n$");
}

TEST_F(TeamDeath, AMemberThatThrowsWhileOthersFinishEndsAll) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            Team team(*ranks, 2);
            team.run([&](Member& member) {
                if (member.local() == 0) throw InputError("the file is gone");
            });
        },
        testing::ExitedWithCode(2), "^error: rank 0 \\(host [^,]+, member 0\\): the file is gone\n$");
}

TEST_F(TeamDeath, WhoeverFailsTogetherOneMessageIsWritten) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            Team team(*ranks, 4);
            team.run([&](Member& member) {
                if (member.local() > 0) throw ComputationError("no");
                member.take(1, 0);
            });
        },
        testing::ExitedWithCode(1), "^error: rank 0 \\(host [^,]+, member [123]\\): no\n$");
}

}  // namespace
