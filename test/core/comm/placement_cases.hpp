// placement() with any number of ranks.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/placement.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace kasane::test {

using namespace kasane::comm;

inline void cpu_ranks_share_the_processors(Communicator& ranks) {
    for (const int threads : {0, 3}) {
        const auto here = placement(ranks, "cpu", 1, threads);
        ASSERT_EQ(here.size(), 1u);
        const auto* cpu = std::get_if<Cpu>(&here[0]);
        ASSERT_NE(cpu, nullptr);
        const int count = thread_count(*cpu);
        std::uint64_t all = static_cast<std::uint64_t>(count);
        EXPECT_GE(all, 1u);
        ranks.all_reduce({&all, 1}, Reduce::sum);
        if (threads > 0) {
            EXPECT_EQ(count, threads);
        } else {  // each has at least one, and together they have at most the threads of a process alone
            EXPECT_LE(all, std::max<std::uint64_t>(std::thread::hardware_concurrency(), static_cast<std::uint64_t>(ranks.size())));
        }
        const auto texts = placement_text(ranks, here);
        ASSERT_EQ(static_cast<int>(texts.size()), ranks.size());
        for (int r = 0; r < ranks.size(); ++r)
            EXPECT_TRUE(texts[static_cast<std::size_t>(r)].starts_with("rank " + std::to_string(r) + " on "))
                << texts[static_cast<std::size_t>(r)];
        const auto& mine = texts[static_cast<std::size_t>(ranks.rank())];
        EXPECT_TRUE(mine.ends_with(", " + std::to_string(count) + (count == 1 ? " thread" : " threads"))) << mine;
    }
}

/// Worker k of local rank l has device (l workers + k) % devices, each device of a rank once.
inline void devices_go_round(Communicator& ranks) {
    const int count = static_cast<int>(devices().size()) - 1;
    for (int workers = 1; workers <= count; ++workers) {
        const auto here = placement(ranks, "cuda", workers);
        ASSERT_EQ(static_cast<int>(here.size()), workers);
        for (int k = 0; k < workers; ++k)
            EXPECT_EQ(name(here[static_cast<std::size_t>(k)]), "cuda:" + std::to_string((ranks.local_rank() * workers + k) % count));
        EXPECT_EQ(placement(ranks, "auto", workers).size(), here.size());
    }
    EXPECT_THROW(placement(ranks, "cuda", count + 1), InputError);
}

inline void impossible_placements_are_refused(Communicator& ranks) {
    EXPECT_THROW(placement(ranks, "gpu", 1), InputError);
    EXPECT_THROW(placement(ranks, "cuda:999", 1), InputError);
    EXPECT_THROW(placement(ranks, "cpu", 1, -1), InputError);
    EXPECT_THROW(placement(ranks, "cpu", 2), InputError);
    EXPECT_THROW(placement(ranks, "cpu", 0), InputError);
}

}  // namespace kasane::test
