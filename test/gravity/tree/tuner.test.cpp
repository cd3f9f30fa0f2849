// The tuner with a simulated clock: it finds the interval of least cost and the fastest groups, and uses no times if deterministic.
#include <kasane/gravity/tree/tuner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

constexpr index_t particles = 1 << 20;

TreeTuning decided() {
    TreeTuning tuning;
    tuning.walk.group = 64;
    return tuning;
}

/// A machine whose walks take c targets (1 + g age) seconds, with noise, and whose builds take B seconds.
struct Machine {
    double per_target = 1e-8, growth = 40, build = 5e-3, noise = 0;
    std::uint64_t state = 1;

    double random() {  // [0, 1)
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 40) / (1 << 24);
    }
    double walk(double targets, double age) { return per_target * targets * (1 + growth * age) * (1 + noise * random()); }
};

/// Mean number of steps of dt with particles / share targets from tree to tree, over the second half of `steps`.
double interval(TreeTuner& tuner, Machine& machine, double dt, int steps, index_t share) {
    double age = 0;
    int trees = 0;
    tuner.built(machine.build);
    for (int k = 0; k < steps; ++k) {
        if (tuner.due()) {
            tuner.built(machine.build);
            age = 0;
            if (k >= steps / 2) ++trees;
        }
        age += dt;
        tuner.walked(particles / share, machine.walk(static_cast<double>(particles / share), age), age);
    }
    return 0.5 * steps / trees;
}

TEST(TreeTuner, RebuildsAtTheIntervalOfLeastCost) {
    for (const double noise : {0.0, 0.1})
        for (const double build : {1e-3, 5e-3, 2e-2}) {
            Machine machine;
            machine.build = build;
            machine.noise = noise;
            TreeTuner tuner(particles, false, decided());
            const double dt = 1. / 512;
            constexpr index_t share = 64;
            const double found = interval(tuner, machine, dt, 4000, share);
            EXPECT_NEAR(tuner.growth(), machine.growth, (noise > 0 ? 0.25 : 0.02) * machine.growth);
            // Cost per step of a cycle of s steps: (B + c (particles / share) g dt s (s + 1) / 2) / s, over the whole numbers up to two
            // full walks.
            const double grows = machine.per_target * (static_cast<double>(particles) / share) * machine.growth * dt;
            const auto cost = [&](double s) { return (build + grows * s * (s + 1) / 2) / s; };
            double least = 1e9;
            for (int s = 1; s <= 2 * share; ++s) least = std::min(least, cost(s));
            EXPECT_LT(cost(found), 1.1 * least) << "every " << found << " steps, build " << build << ", noise " << noise;
        }
}

TEST(TreeTuner, RebuildsAfterTwoFullWalksAtTheLatest) {
    // Builds that cost more than any growth of the walks must not keep an old tree: its forces become less accurate.
    for (const bool deterministic : {true, false})
        for (const index_t share : {1, 2, 16}) {
            Machine machine;
            machine.growth = 0.1;
            machine.build = 1;
            TreeTuner tuner(particles, deterministic, decided());
            EXPECT_EQ(interval(tuner, machine, 1. / 512, 1024, share), 2. * static_cast<double>(share))
                << "deterministic " << deterministic;
        }
}

TEST(TreeTuner, FitsGrowthFromStepsOfDifferentSizes) {
    // Block steps: all particles in every eighth step, an eighth of them in the others. Walks for few targets cost more per target.
    Machine machine;
    TreeTuner tuner(particles, false, decided());
    double age = 0;
    for (int k = 0; k < 4000; ++k) {
        if (tuner.due()) tuner.built(machine.build), age = 0;
        age += 1. / 4096;
        const bool all = k % 8 == 7;
        tuner.walked(all ? particles : particles / 8, machine.walk(all ? particles : particles / 8., age) * (all ? 1 : 3), age);
    }
    EXPECT_NEAR(tuner.growth(), machine.growth, 0.05 * machine.growth);
}

TEST(TreeTuner, RebuildsNoEarlierWithoutGrowth) {
    Machine machine;
    machine.growth = 0;
    TreeTuner tuner(particles, false, decided());
    EXPECT_EQ(interval(tuner, machine, 1. / 512, 1024, 16), 32) << "walks that do not grow, or whose growth is unknown";
    EXPECT_EQ(tuner.growth(), 0);
}

TEST(TreeTuner, ChoosesTheFastestGroupsListsAndLanes) {
    Machine machine;
    machine.noise = 0.02;
    TreeTuner tuner(particles, false, {});
    const auto seconds = [&] {
        const auto& walk = tuner.walk();
        const double slower = (walk.group == 32 ? 0.8 : 1) * (walk.group_extent == 3.0 ? 0.7 : 1) * (walk.list == 256 ? 0.8 : 1) *
                              (walk.lanes == 2 ? 0.8 : 1);
        return machine.walk(particles, 0) * slower;
    };
    for (int k = 0; k < 100; ++k) tuner.walked(particles, k == 4 ? 100 * seconds() : seconds(), 0);  // disturbed once
    EXPECT_EQ(tuner.walk().group, 32);
    EXPECT_EQ(tuner.walk().group_extent, 3.0);
    EXPECT_EQ(tuner.walk().list, 256);
    EXPECT_EQ(tuner.walk().lanes, 2);
    TreeTuner resumed(particles, false, tuner.tuning());
    for (int k = 0; k < 10; ++k) {
        EXPECT_EQ(resumed.walk().group, 32) << "a stored choice is not tried again";
        EXPECT_EQ(resumed.walk().list, 256);
        resumed.walked(particles, 1, 0);
    }
}

TEST(TreeTuner, DeterministicIgnoresTimes) {
    TreeTuner a(particles, true, {}), b(particles, true, {});
    double seconds = 1;
    for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(a.due(), b.due()) << k;
        if (a.due()) a.built(1), b.built(seconds);
        const index_t targets = k % 5 ? particles / 7 : particles;
        a.walked(targets, 1, 0.1);
        b.walked(targets, seconds *= 1.1, 0.1);
        ASSERT_EQ(a.walk().group, 0);
        ASSERT_EQ(b.walk().group, 0);
    }
    EXPECT_GT(a.tuning().rebuild_interval, 1);
}

}  // namespace
}  // namespace kasane::gravity
