#include <kasane/core/base/waiting.hpp>
#include <kasane/core/device/binding.hpp>
#include <kasane/core/device/thread_pool.hpp>

#include <gtest/gtest.h>

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kasane {
namespace {

TEST(ForEachPart, RunsEachPartOnce) {
    for (const int threads : {3, 1, 2, 7, 4})
        for (const index_t parts : {0, 1, 2, 3, 6, 7, 64, 1000})
            for (int repetition = 0; repetition < 20; ++repetition) {
                std::vector<std::atomic<int>> times(static_cast<std::size_t>(parts));
                for_each_part(threads, parts, [&](index_t part) { ++times[static_cast<std::size_t>(part)]; });
                for (index_t part = 0; part < parts; ++part)
                    ASSERT_EQ(times[static_cast<std::size_t>(part)], 1) << threads << " threads, part " << part << " of " << parts;
            }
}

TEST(ForEachPart, TheCallerSeesWhatThePartsWrote) {
    std::vector<index_t> value(500, -1);
    for (index_t round = 0; round < 2000; ++round) {
        for_each_part(3, 500, [&](index_t part) { value[static_cast<std::size_t>(part)] = round + part; });
        for (index_t part = 0; part < 500; ++part) ASSERT_EQ(value[static_cast<std::size_t>(part)], round + part);
    }
}

TEST(ForEachPart, NoTwoPartsRunUnderOneNumberAtOneTime) {
    constexpr int threads = 4;
    std::atomic<int> inside[threads] = {}, clashes{0}, out_of_range{0};
    for (int round = 0; round < 200; ++round)
        for_each_part(threads, 50, [&](index_t, int thread) {
            if (thread < 0 || thread >= threads)
                ++out_of_range;
            else {
                if (inside[thread].fetch_add(1) != 0) ++clashes;
                for (int i = 0; i < 50; ++i) relax();
                --inside[thread];
            }
        });
    EXPECT_EQ(clashes, 0);
    EXPECT_EQ(out_of_range, 0);
}

TEST(ForEachPart, OtherThreadsTakeThePartsOfADelayedThread) {
    // Part 0 ends when all others are done: those of its own share are left to the other thread.
    constexpr index_t parts = 40;
    std::atomic<index_t> done{0};
    for_each_part(2, parts, [&](index_t part) {
        if (part == 0)
            while (done.load() < parts - 1) std::this_thread::yield();
        ++done;
    });
    EXPECT_EQ(done, parts);
}

TEST(ForEachPart, ALoopInsideAPartRunsOnItsThread) {
    std::atomic<int> elsewhere{0}, parts{0};
    for_each_part(3, 6, [&](index_t) {
        const auto here = std::this_thread::get_id();
        for_each_part(3, 10, [&](index_t) {
            ++parts;
            if (std::this_thread::get_id() != here) ++elsewhere;
        });
    });
    EXPECT_EQ(parts, 60);
    EXPECT_EQ(elsewhere, 0);
    parts = 0;
#pragma omp parallel num_threads(2)
    for_each_part(3, 10, [&](index_t) { ++parts; });
    EXPECT_EQ(parts, 20);
}

TEST(ForEachPart, CallersOnSeveralThreadsAreIndependent) {
    std::atomic<index_t> sum{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 100; ++round) for_each_part(2 + round % 3, 20, [&](index_t part) { sum += part; });
        });
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(sum, 4 * 100 * 190);
}

/// With OMP_PROC_BIND and OMP_PLACES, threads may run where OpenMP's of the same number run; without, anywhere.
TEST(ForEachPart, ThreadsAreBoundAsThoseOfOpenMP) {
    constexpr int threads = 16;  // more than in the other tests, so that the pool is new
    const auto places = places_of_team(threads);
    ASSERT_EQ(places.empty(), thread_binding().policy.empty());
    std::vector<cpu_set_t> allowed(threads);
    std::vector<char> ran(threads, 0);
    std::atomic<int> arrived{0};
    for_each_part(threads, threads, [&](index_t, int thread) {
        ++arrived;
        for (int turn = 0; turn < 1000 && arrived < threads; ++turn) std::this_thread::yield();
        const auto me = static_cast<std::size_t>(thread);
        sched_getaffinity(0, sizeof(cpu_set_t), &allowed[me]);
        ran[me] = 1;
    });
    for (std::size_t t = 1; t < threads; ++t) {
        if (ran[t] == 0) continue;
        if (places.empty()) {
            EXPECT_EQ(CPU_COUNT(&allowed[t]), omp_get_num_procs());
            continue;
        }
        std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(places[t])));
        omp_get_place_proc_ids(places[t], ids.data());
        EXPECT_EQ(CPU_COUNT(&allowed[t]), static_cast<int>(ids.size())) << t;
        for (const int id : ids) EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(id), &allowed[t])) << t;
    }
}

}  // namespace
}  // namespace kasane
