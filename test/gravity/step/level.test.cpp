// The time grid: the level of a step, its end, and when it may become longer, compared with values by hand and by brute force.
#include <kasane/gravity/step/level.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kasane::gravity {
namespace {

TEST(TimeGrid, WantedLevelIsTheShallowestThatFits) {
    const TimeGrid grid{0.75, 10};
    for (int k = 0; k <= 10; ++k) {
        const double step = std::ldexp(0.75, -k);
        EXPECT_EQ(grid.wanted(step), k) << "a step of the grid itself";
        EXPECT_EQ(grid.wanted(step * (1 + 1e-12)), k);
        EXPECT_EQ(grid.wanted(step * (1 - 1e-12)), k + 1) << "deepest + 1 means: shorter than the shortest step";
    }
    EXPECT_EQ(grid.wanted(1e300), 0);
    EXPECT_EQ(grid.wanted(std::numeric_limits<double>::infinity()), 0);
    EXPECT_EQ(grid.wanted(0), 11);
    EXPECT_EQ(grid.wanted(5e-324), 11);
    EXPECT_EQ(grid.wanted(std::nan("")), 0) << "non-finite particles are found elsewhere";
    EXPECT_EQ((TimeGrid{0.75, 0}.wanted(0.5)), 1);
    EXPECT_EQ((TimeGrid{1, 30}.wanted(std::ldexp(1, -30))), 30);
    EXPECT_EQ((TimeGrid{-1, 4}.wanted(0.25)), 2) << "backwards";
}

TEST(TimeGrid, StepsEndAtMultiplesOfTheirLength) {
    const TimeGrid grid{1, 5};
    for (std::uint32_t now = 0; now < grid.end(); ++now)
        for (int level = 0; level <= 5; ++level) {
            const std::uint32_t length = 32u >> level;
            EXPECT_EQ(grid.ticks(level), length);
            EXPECT_EQ(grid.begin(level, now), now / length * length);
            EXPECT_EQ(grid.next(level, now), (now / length + 1) * length);
        }
    for (std::uint32_t time = 1; time <= grid.end(); ++time) {
        const int first = grid.first_ending(time);
        for (int level = 0; level <= 5; ++level) EXPECT_EQ(level >= first, time % grid.ticks(level) == 0) << time << ", " << level;
    }
    EXPECT_EQ((TimeGrid{1, 30}.first_ending(1u << 30)), 0);
    EXPECT_EQ((TimeGrid{1, 30}.first_ending((1u << 30) - 1)), 30);
    EXPECT_EQ((TimeGrid{0.1, 0}.time(1)), 0.1) << "one constant step: to the last bit";
    EXPECT_EQ((TimeGrid{0.1, 4}.time(4)), 0.1 / 4);
}

TEST(TimeGrid, StepsGrowOnlyOnTheGridAndShrinkAtOnce) {
    const TimeGrid grid{1, 6};
    for (int level = 0; level <= 6; ++level)
        for (int required = 0; required <= 7; ++required)
            for (std::uint32_t time = grid.ticks(level); time <= grid.end(); time += grid.ticks(level)) {
                const int to = grid.after(level, required, time);
                EXPECT_EQ(time % grid.ticks(to), 0u) << "the next step begins on its own grid";
                const bool grows = required < level && time % grid.ticks(level - 1) == 0;
                EXPECT_EQ(to, required >= level ? std::min(required, 6) : grows ? level - 1 : level);
                const int shared = grid.after_shared(level, required, time);
                EXPECT_EQ(time % grid.ticks(shared), 0u);
                EXPECT_LE(shared, std::max(level, std::min(required, 6)));
                EXPECT_GE(shared, std::min(required, 6));
                EXPECT_TRUE(shared <= required || shared >= level || time % grid.ticks(shared - 1) != 0) << "as shallow as the grid allows";
            }
}

TEST(StepRule, TakesTheShorterOfItsTwoTimes) {
    const StepRule both{0.5, 0.04, true}, acceleration{0.5, 0.04, false};
    EXPECT_NEAR(both.dt(0, 16), 0.5 * std::sqrt(0.04 / 4), 1e-15);
    EXPECT_NEAR(both.dt(9, 1e-30), 0.5 * 0.04 / 3, 1e-15);
    EXPECT_NEAR(both.dt(9, 16), 0.5 * 0.04 / 3, 1e-15);
    EXPECT_NEAR(acceleration.dt(9, 16), 0.5 * std::sqrt(0.04 / 4), 1e-15);
    EXPECT_GT(acceleration.dt(9, 0), 1e100) << "no acceleration, no limit";
    EXPECT_GT(both.dt(0, 0), 1e100);
    EXPECT_EQ((StepRule{0.5, 0, false}.dt(1, 1)), 0);
}

/// For any sequence of required levels, all steps begin and end on the grid, all particles reach the end of the macro step, and the next
/// time is the earliest end of a step.
TEST(TimeGrid, AllParticlesReachTheEndOfTheMacroStep) {
    const TimeGrid grid{1, 8};
    std::vector<int> level(40);
    std::vector<std::uint32_t> time(40, 0);
    std::uint64_t state = 7;
    const auto random = [&](int below) {
        return static_cast<int>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % below;
    };
    for (auto& l : level) l = random(9);
    std::uint32_t now = 0;
    int shallower = 0, deeper = 0;
    while (now < grid.end()) {
        std::uint32_t earliest = grid.end();
        int deepest = 0;
        for (std::size_t i = 0; i < level.size(); ++i) {
            ASSERT_EQ(time[i], grid.begin(level[i], now)) << "the level determines a particle's time";
            earliest = std::min(earliest, time[i] + grid.ticks(level[i]));
            deepest = std::max(deepest, level[i]);
        }
        const auto next = grid.next(deepest, now);
        ASSERT_EQ(next, earliest);
        const int first = grid.first_ending(next);
        for (std::size_t i = 0; i < level.size(); ++i) {
            ASSERT_EQ(level[i] >= first, time[i] + grid.ticks(level[i]) == next);
            if (level[i] < first) continue;
            time[i] = next;
            const int to = grid.after(level[i], random(10), next);
            (to < level[i] ? shallower : deeper) += to != level[i];
            level[i] = to;
        }
        now = next;
    }
    for (const auto t : time) EXPECT_EQ(t, grid.end());
    EXPECT_GT(shallower, 20);
    EXPECT_GT(deeper, 20);
}

}  // namespace
}  // namespace kasane::gravity
