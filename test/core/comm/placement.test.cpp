// Placement of one rank.
#include <test/core/comm/placement_cases.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::test;

TEST(Placement, ARankAloneHasAllProcessors) {
    const auto ranks = alone();
    cpu_ranks_share_the_processors(*ranks);
    EXPECT_EQ(thread_count(std::get<Cpu>(placement(*ranks, "cpu", 1)[0])), thread_count(Cpu{}));
}

TEST(Placement, WithoutADeviceAutoIsTheCpu) {
    if (why_no_cuda().empty()) GTEST_SKIP() << "there is a device";
    const auto ranks = alone();
    EXPECT_EQ(name(placement(*ranks, "auto", 1)[0]), "cpu");
    EXPECT_THROW(placement(*ranks, "cuda", 1), InputError);
}

TEST(Placement, DevicesAreAssignedInTurn) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const auto ranks = alone();
    devices_go_round(*ranks);
    EXPECT_EQ(name(placement(*ranks, "cuda:0", 1)[0]), "cuda:0");
}

TEST(Placement, ImpossiblePlacementsAreRefused) { impossible_placements_are_refused(*alone()); }

}  // namespace
