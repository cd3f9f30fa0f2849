// The exchange of [MTM13] section 4 simulated: every worker gets every slab once, sends only slabs that it has, in as many messages as
// stated.
#include <kasane/core/comm/plan.hpp>

#include <gtest/gtest.h>

#include <set>

namespace kasane::comm {
namespace {

constexpr index_t no_limit = index_t{1} << 40;

/// Executes the plans of all workers together; every message must have its counterpart and contain the slabs that its sender holds.
void play(const Partition& partition, index_t buffer, int messages) {
    std::vector<ExchangePlan> plans;
    for (int m = 0; m < partition.workers; ++m) plans.push_back(exchange_plan(partition, m, buffer));
    std::vector<std::set<int>> seen(plans.size());
    std::vector<Slabs> to_send;
    for (int m = 0; m < partition.workers; ++m) seen[static_cast<std::size_t>(m)] = {m}, to_send.push_back({m, 1});
    for (std::size_t h = 0; h < plans[0].hops.size(); ++h) {
        const auto before = to_send;
        for (int m = 0; m < partition.workers; ++m) {
            const auto at = static_cast<std::size_t>(m);
            ASSERT_EQ(plans[at].messages(), messages) << partition.workers << " workers";
            const auto& hop = plans[at].hops[h];
            EXPECT_EQ(hop.sent, before[at]) << "worker " << m << " sends a slab that it does not have";
            const auto& sender = plans[static_cast<std::size_t>(hop.from)].hops[h];
            EXPECT_EQ(sender.to, m);
            EXPECT_EQ(sender.sent, hop.received);
            for (int s = 0; s < hop.received.count; ++s) EXPECT_TRUE(seen[at].insert(hop.received.first + s).second) << "a slab came twice";
            EXPECT_LE(partition.count(hop.received.first, hop.received.count), plans[at].buffer);
            if (hop.accumulates) {
                to_send[at] = {std::min(before[at].first, hop.received.first), before[at].count + hop.received.count};
                EXPECT_LE(partition.count(to_send[at].first, to_send[at].count), plans[at].buffer);
            } else {
                to_send[at] = hop.received;
            }
        }
    }
    for (const auto& slabs : seen) EXPECT_EQ(static_cast<int>(slabs.size()), partition.workers);
    EXPECT_LE(plans[0].buffer, std::max(buffer, partition.largest()));
}

TEST(ExchangePlan, AccumulatesInLogarithmicallyManyMessages) {
    for (const auto& [workers, messages] : {std::pair{1, 0}, {2, 1}, {4, 2}, {8, 3}, {256, 8}})
        for (const index_t n : {1, 5, 1000, 4097, 1 << 20}) play({n, 256, workers}, no_limit, messages);
}

TEST(ExchangePlan, IsARingWithASmallBuffer) {
    for (const int workers : {1, 2, 3, 4, 6, 7, 8, 12})
        for (const index_t n : {1, 5, 4097, 100'000}) play({n, 1, workers}, 0, exchange_plan({n, 1, workers}, 0, 0).messages());
    for (const int workers : {2, 3, 4, 7, 8}) play({index_t{workers} * 1000, 1, workers}, 0, workers - 1);
}

TEST(ExchangePlan, MixesThePhases) {
    // A buffer of two slabs: one message of accumulation, then rings of P/2.
    play({8 * 1024, 256, 8}, 2 * 1024, 1 + 3);
    // A buffer of four slabs, where P/2 of eight is four: the last message of accumulation needs no more, so there is no ring.
    play({8 * 1024, 256, 8}, 4 * 1024, 3);
    // Not a power of two: groups of the largest power that divides P.
    play({6 * 1024, 256, 6}, no_limit, 1 + 2);
    play({12 * 1024, 256, 12}, no_limit, 2 + 2);
    play({7 * 1024, 256, 7}, no_limit, 6);
}

TEST(Partition, CoversEverythingInWholeGrains) {
    for (const int workers : {1, 2, 3, 4, 7, 8, 300})
        for (const index_t n : {0, 1, 5, 1000, 4097, 100'000})
            for (const index_t grain : {1, 256, 1024}) {
                const Partition partition{n, grain, workers};
                index_t next = 0;
                for (int m = 0; m < workers; ++m) {
                    EXPECT_EQ(partition.begin(m), next);
                    EXPECT_TRUE(next % grain == 0 || next == n);
                    next = partition.end(m);
                    EXPECT_LE(partition.count(m), (n / grain / workers + 2) * grain);
                }
                EXPECT_EQ(next, n);
            }
}

}  // namespace
}  // namespace kasane::comm
