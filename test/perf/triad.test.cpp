// Bandwidth of the memory: sizes of the arrays computed by hand, rates against a copy that is timed here.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/perf/triad.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace kasane {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20, gibibyte = 1 << 30;

TEST(Triad, ArraysAreFourCachesOrAFifteenthOfTheMemory) {
    EXPECT_EQ(detail::speed_elements(0, 32 * mebibyte, 64 * gibibyte), 256 * mebibyte / 8) << "at least 256 MiB";
    EXPECT_EQ(detail::speed_elements(0, 480 * mebibyte, 60 * gibibyte), 1920 * mebibyte / 8);
    EXPECT_EQ(detail::speed_elements(0, 480 * mebibyte, 15 * gibibyte), gibibyte / 8) << "a fifth of the memory for all three";
    EXPECT_EQ(detail::speed_elements(mebibyte + 100, 480 * mebibyte, gibibyte), mebibyte / 8) << "whole lines";
    EXPECT_THROW(detail::speed_elements(gibibyte, 0, 2 * gibibyte), ComputationError);
    EXPECT_THROW(detail::speed_elements(0, 0, 3 * mebibyte), ComputationError);
}

/// Bytes per second of a copy, the best of ten.
double copy_rate(std::uint64_t bytes) {
    std::vector<char> from(bytes, 1), to(bytes, 2);
    double seconds = 1e300;
    for (int pass = 0; pass < 10; ++pass) {
        Stopwatch watch;
        std::memcpy(to.data(), from.data(), bytes);
        seconds = std::min(seconds, watch.seconds());
    }
    EXPECT_EQ(to.back(), 1);
    return 2 * static_cast<double>(bytes) / seconds;
}

TEST(Triad, RatesAreThoseOfThisMemory) {
    constexpr std::uint64_t bytes = 32 * mebibyte;
    MemorySpeed speed;
    double copy = 0;
    const auto near = [&](double rate) { return rate < 6 * copy && rate > copy / 6; };
    // Copy, triad and sum run at the memory's speed within a factor of two of each other; another factor of three allows for other programs
    // that run meanwhile, and where they take more for a moment, the measurement is repeated. A missing factor of threads, passes or 2^10
    // is larger, and remains.
    for (int attempt = 0; attempt < 5; ++attempt) {
        speed = memory_speed(Cpu{1}, bytes);
        copy = copy_rate(bytes);
        if (near(speed.triad) && near(speed.read)) break;
    }
    EXPECT_EQ(speed.array_bytes, bytes);
    EXPECT_LT(speed.triad, 6 * copy);
    EXPECT_GT(speed.triad, copy / 6);
    EXPECT_LT(speed.read, 6 * copy);
    EXPECT_GT(speed.read, copy / 6);
}

TEST(Triad, AnyNumberOfThreadsSharesTheArrays) {
    for (const int threads : {2, 3, 7})
        EXPECT_GT(memory_speed(Cpu{threads}, mebibyte + 64 * 8).triad, 0) << threads;  // checks its sums itself
}

#if defined(KASANE_CUDA)
TEST(Triad, OnCuda) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    for (const std::uint64_t bytes : {mebibyte + 64 * 8, 512 * mebibyte}) {
        const auto speed = memory_speed(Cuda{}, bytes);
        EXPECT_EQ(speed.array_bytes, bytes);
        EXPECT_GT(speed.triad, 0);
        // No device that is built reads its memory at 100 TB/s; caches count here as the arrays are small.
        EXPECT_LT(speed.triad, 1e14);
        EXPECT_LT(speed.read, 1e14);
    }
}
#endif

}  // namespace
}  // namespace kasane
