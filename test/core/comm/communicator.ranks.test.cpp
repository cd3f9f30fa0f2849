// What the ranks say to each other: any number of them, any size of message.
#include <kasane/core/comm/communicator.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::comm;

TEST(Ranks, AreNumbered) {
    auto& ranks = world();
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(ranks.size()));
    seen[static_cast<std::size_t>(ranks.rank())] = 1;
    ranks.all_reduce(view(seen), Reduce::sum);
    for (const auto times : seen) EXPECT_EQ(times, 1u);
}

}  // namespace
