#include <kasane/core/base/progress.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace kasane;

TEST(Progress, ClockText) {
    EXPECT_EQ(clock_text(0), "0:00");
    EXPECT_EQ(clock_text(65.4), "1:05");
    EXPECT_EQ(clock_text(3909), "1:05:09");
    EXPECT_EQ(clock_text(-1), "--:--");
    EXPECT_EQ(clock_text(std::nan("")), "--:--");
}

TEST(Progress, TimeLeftCountsOnlyTheWorkOfThisProcess) {
    // Half was done before; a quarter of the whole took 10 s here, so the last quarter takes 10 s more.
    const Progress progress(ProgressStyle::lines, "collision", 100, 50);
    EXPECT_EQ(progress.line(75, 10, "t = 3"), "collision: 75%, 0:10 gone, 0:10 left, t = 3");
    EXPECT_EQ(progress.line(50, 10, ""), "collision: 50%, 0:10 gone, --:-- left");
}

TEST(Progress, TheBarIsFullAtTheEndAndWithoutWork) {
    const Progress bar(ProgressStyle::bar, "x", 10);
    EXPECT_EQ(bar.line(5, 10, ""), "x [############............]  50%  0:10 left  ");
    EXPECT_EQ(bar.line(10, 10, ""), "x [########################] 100%  0:00 left  ");
    const Progress empty(ProgressStyle::lines, "x", 0);
    EXPECT_EQ(empty.line(0, 1, ""), "x: 100%, 0:01 gone, --:-- left");
}
