// Placement of several ranks.
#include <test/core/comm/placement_cases.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::test;

TEST(PlacementOfRanks, CpuRanksShareTheProcessors) { cpu_ranks_share_the_processors(world()); }

TEST(PlacementOfRanks, DevicesAreAssignedInTurn) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    devices_go_round(world());
    if (world().size() > 1) {
        EXPECT_THROW(placement(world(), "cuda:0", 1), InputError);
    }
}

TEST(PlacementOfRanks, ImpossiblePlacementsAreRefused) { impossible_placements_are_refused(world()); }

/// A name that is wrong on one rank only is refused by all, naming that rank.
TEST(PlacementOfRanks, OneRankWithoutTheDeviceIsRefusedByAll) {
    auto& ranks = world();
    const int last = ranks.size() - 1;
    try {
        placement(ranks, ranks.rank() == last ? "cuda:999" : "cpu", 1);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_EQ(text.starts_with("rank " + std::to_string(last) + ": "), last > 0) << text;
    }
}

}  // namespace
