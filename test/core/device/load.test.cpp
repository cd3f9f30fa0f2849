#include <kasane/core/base/error.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/core/device/threads.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

namespace kasane {
namespace {

TEST(RunnableThreads, AreReadFromTheFourthWord) {
    EXPECT_EQ(runnable_threads("0.20 0.18 0.12 3/80 11206\n"), 3);
    EXPECT_EQ(runnable_threads("12.20 0.18 0.12 117/2080 11206"), 117);
    for (const char* none : {"", "0.20 0.18 0.12", "0.20 0.18 0.12 0/0 0", "0.20 0.18 0.12 3 80", "a b c 3/80 1", "0.2 0.1 0.1 -1/80 1"})
        EXPECT_FALSE(runnable_threads(none)) << none;
}

TEST(LoadWarning, AppearsWhereThreadsExceedProcessors) {
    EXPECT_EQ(load_warning(1, 2, 2), "") << "the caller alone is runnable: the machine is idle";
    EXPECT_EQ(load_warning(1, 8, 2), "") << "more threads than processors, and nothing beside them";
    EXPECT_EQ(load_warning(3, 2, 4), "") << "two others, two of ours, four processors";
    const auto some = load_warning(4, 2, 4);
    for (const char* words : {"2 threads", "3 threads of other programs run", "4 processors", "--threads 1"})
        EXPECT_NE(some.find(words), std::string::npos) << some;
    const auto none_left = load_warning(5, 1, 2);
    EXPECT_NE(none_left.find("Wait until the machine is free"), std::string::npos) << none_left;
    EXPECT_EQ(none_left.find("--threads"), std::string::npos) << "no fewer than one";
}

TEST(LoadMeter, DetectsThreadsThatWaitForAProcessor) {
    const bool recorded = std::ifstream("/proc/self/schedstat").good();  // the system records waiting times
    const LoadMeter load;
    std::atomic<bool> stop{false};
    std::vector<std::thread> busy;
    for (unsigned i = 0; i < 4 * std::max(1u, std::thread::hardware_concurrency()); ++i)
        busy.emplace_back([&] {
            while (!stop.load()) {
            }
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (recorded)
        EXPECT_GT(load.waiting(), 0.3) << "three of four threads wait";
    else
        EXPECT_EQ(load.waiting(), 0) << "unknown";
    EXPECT_EQ(load.disturbed(), recorded);
    stop = true;
    for (auto& thread : busy) thread.join();
}

TEST(CheckThreads, AcceptsNumbersThatCanBeStarted) {
    EXPECT_EQ(startable_threads(0), 0);
    EXPECT_EQ(startable_threads(9), 9);
    for (const int threads : {0, 1, 2, 17}) EXPECT_NO_THROW(check_threads(threads)) << threads;
    for (const int threads : {-1, most_threads + 1}) {
        try {
            check_threads(threads);
            ADD_FAILURE() << threads;
        } catch (const InputError& error) {
            EXPECT_EQ(error.problems().front().where.key, "threads");
        }
    }
}

}  // namespace
}  // namespace kasane
