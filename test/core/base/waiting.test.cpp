#include <kasane/core/base/waiting.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kasane {
namespace {

TEST(ThreadBarrier, NoThreadPassesBeforeAllHaveArrived) {
    for (const int threads : {1, 2, 5}) {
        constexpr int rounds = 2000;
        ThreadBarrier barrier;
        std::atomic<int> arrived{0}, early{0};
        const auto body = [&] {
            for (int round = 1; round <= rounds; ++round) {
                ++arrived;
                barrier.wait(threads);
                if (arrived.load() < round * threads) ++early;
                barrier.wait(threads);
            }
        };
        std::vector<std::thread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(body);
        body();
        for (auto& other : others) other.join();
        EXPECT_EQ(arrived, rounds * threads);
        EXPECT_EQ(early, 0);
    }
}

TEST(WaitWord, WakesAThreadThatSleeps) {
    WaitWord word;
    std::atomic<bool> woken{false};
    std::thread waiter([&] {
        word.wait_while(0);
        woken = true;
    });
    std::this_thread::sleep_for(20 * spin_time);  // it sleeps now
    EXPECT_FALSE(woken);
    word.set(1);
    waiter.join();
    EXPECT_TRUE(woken);
    word.wait_while(0);  // the value differs already
}

TEST(SpinUntil, EndsWithItsTime) {
    const auto began = std::chrono::steady_clock::now();
    int between = 0;
    EXPECT_FALSE(spin_until([] { return false; }, [&] { ++between; }));
    EXPECT_GE(std::chrono::steady_clock::now() - began, spin_time);
    EXPECT_GT(between, 0);
    EXPECT_TRUE(spin_until([] { return true; }, [] {}));
}

}  // namespace
}  // namespace kasane
