#include <kasane/run/gravity/schedule.hpp>

#include <gtest/gtest.h>

#include <vector>

using kasane::run::Schedule;

namespace {

/// Steps of all events of a kind, by asking every step, and by jumping from one to the next.
std::vector<std::int64_t> by_asking(const Schedule& s, double every) {
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i <= s.last(); ++i)
        if (s.due(every, i)) steps.push_back(i);
    return steps;
}
std::vector<std::int64_t> by_jumping(const Schedule& s, double every) {
    std::vector<std::int64_t> steps{0};
    while (steps.back() < s.last()) steps.push_back(s.next(every, steps.back()));
    return steps;
}

}  // namespace

TEST(Schedule, EventsOfACommensurateInterval) {
    const Schedule s{.start = 0, .dt = 0.125, .until = 1, .snapshot_every = 0.5, .diagnostics_every = 0.25};
    EXPECT_EQ(s.last(), 8);
    EXPECT_EQ(by_asking(s, 0.25), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
    EXPECT_EQ(s.snapshot_number(8), 2);
}

TEST(Schedule, JumpingMeetsEveryEventAndNumbersThemInOrder) {
    // 0.1 and 1/3 are no binary numbers, and none of the intervals is a multiple of the step.
    for (const double dt : {0.1, 1. / 3, 0.0078125, 0.007})
        for (const double every : {1.0, 0.7, dt, 1.5 * dt, 3.3}) {
            const Schedule s{.start = 5.3, .dt = dt, .until = 12.1, .snapshot_every = every, .diagnostics_every = every};
            if (every < dt) continue;
            const auto steps = by_asking(s, every);
            EXPECT_EQ(steps, by_jumping(s, every)) << dt << " " << every;
            for (std::size_t k = 0; k < steps.size(); ++k)
                EXPECT_EQ(s.snapshot_number(steps[k]), static_cast<std::int64_t>(k)) << dt << " " << every << " " << steps[k];
        }
}

TEST(Schedule, TimesDoNotDrift) {
    const Schedule s{.start = 0, .dt = 0.1, .until = 1e6, .snapshot_every = 1, .diagnostics_every = 1};
    EXPECT_EQ(s.last(), 10'000'000);
    EXPECT_EQ(s.next(1, 9'999'989), 9'999'990);
    EXPECT_DOUBLE_EQ(s.time(s.last()), 1e6);
}

TEST(Schedule, AnIntervalLongerThanTheRunLeavesStartAndEnd) {
    const Schedule s{.start = 0, .dt = 0.5, .until = 2, .snapshot_every = 100, .diagnostics_every = 100};
    EXPECT_EQ(by_asking(s, 100), (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(by_jumping(s, 100), (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(s.snapshot_number(4), 1);
    EXPECT_TRUE(s.regular(100, 0));
    EXPECT_FALSE(s.regular(100, 4)) << "due at the end alone";
    EXPECT_TRUE(s.regular(1, 4));
    EXPECT_FALSE(s.regular(1, 3));
}
