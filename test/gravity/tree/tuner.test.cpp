// The tuner with a simulated clock: it finds the interval of least cost and the fastest parameters of walks with many and with few targets,
// and uses no times if deterministic.
#include <kasane/gravity/tree/tuner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace kasane::gravity {
namespace {

constexpr index_t particles = 1 << 20;
constexpr double most_walks = TreeTuner::full_walks_per_tree;

bool same(const WalkTuning& a, const WalkTuning& b) {
    return a.vector == b.vector && a.group == b.group && a.group_extent == b.group_extent && a.lanes == b.lanes && a.list == b.list;
}

/// Time of a walk with these parameters, relative to that with the walk's own choice.
using Factor = std::function<double(const WalkTuning&, index_t targets)>;

/// A machine whose walks take c targets (1 + g age) seconds, times a factor that depends on their parameters and targets, with noise, and
/// whose builds take B seconds.
struct Machine {
    double per_target = 1e-8, growth = 40, build = 5e-3, noise = 0;
    Factor factor = [](const WalkTuning&, index_t) { return 1.; };
    std::uint64_t state = 1;

    double random() {  // [0, 1)
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 40) / (1 << 24);
    }
    double walk(double targets, double age) { return per_target * targets * (1 + growth * age) * (1 + noise * random()); }
    double walk(const WalkTuning& tuning, index_t targets, double age) {
        return walk(static_cast<double>(targets), age) * factor(tuning, targets);
    }
};

TreeTuner without_alternatives(bool deterministic = false) { return {particles, deterministic, {}, {}}; }

/// Targets of block step k: in each 16 steps all particles are targets once, half of them once, a quarter twice, and so on.
index_t targets_of(int k) { return particles >> (4 - std::min(std::countr_zero(static_cast<unsigned>(k) + 1), 4)); }

/// Block steps of such sizes. Returns how many walks with many targets, and with few, had other parameters than `usual`.
std::array<int, 2> run(TreeTuner& tuner, Machine& machine, int macro_steps, const WalkTuning& usual = {}) {
    std::array<int, 2> others{};
    double age = 0;
    for (int k = 0; k < 16 * macro_steps; ++k) {
        if (tuner.due()) tuner.built(machine.build), age = 0;
        age += 1. / 8192;
        const index_t targets = targets_of(k);
        const auto walk = tuner.walk(targets);
        if (!same(walk, usual)) ++others[many_targets(targets, particles) ? 0 : 1];
        tuner.walked(targets, machine.walk(walk, targets, age), age);
    }
    return others;
}

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
            auto tuner = without_alternatives();
            const double dt = 1. / 512;
            constexpr index_t share = 64;
            const double found = interval(tuner, machine, dt, 4000, share);
            EXPECT_NEAR(tuner.growth(), machine.growth, (noise > 0 ? 0.25 : 0.02) * machine.growth);
            // Cost per step of a cycle of s steps: (B + c (particles / share) g dt s (s + 1) / 2) / s, over the whole numbers up to the
            // limit.
            const double grows = machine.per_target * (static_cast<double>(particles) / share) * machine.growth * dt;
            const auto cost = [&](double s) { return (build + grows * s * (s + 1) / 2) / s; };
            double least = 1e9;
            for (int s = 1; s <= most_walks * static_cast<double>(share); ++s) least = std::min(least, cost(s));
            EXPECT_LT(cost(found), 1.1 * least) << "every " << found << " steps, build " << build << ", noise " << noise;
        }
}

TEST(TreeTuner, RebuildsAtTheLimitAtTheLatest) {
    // Builds that cost more than any growth of the walks must not keep an old tree: its forces become less accurate.
    for (const bool deterministic : {true, false})
        for (const index_t share : {1, 2, 16}) {
            Machine machine;
            machine.growth = 0.1;
            machine.build = 1;
            auto tuner = without_alternatives(deterministic);
            EXPECT_EQ(interval(tuner, machine, 1. / 512, 1024, share), most_walks * static_cast<double>(share))
                << "deterministic " << deterministic;
        }
}

TEST(TreeTuner, RebuildsAtTheLimitOfWorkers) {
    EXPECT_EQ(most_walks_of_workers(0), 2);
    EXPECT_EQ(most_walks_of_workers(1 << 22), 2);
    EXPECT_NEAR(most_walks_of_workers(1 << 23), std::sqrt(2), 1e-12);
    EXPECT_EQ(most_walks_of_workers(1 << 24), 1);
    EXPECT_EQ(most_walks_of_workers(index_t{1} << 40), 1);
    constexpr index_t n = 1 << 23;
    TreeTuner tuner(n, true, {}, {}, most_walks_of_workers(n));
    EXPECT_NEAR(tuner.expected_targets(), std::sqrt(2) * n, 1);
    tuner.built(0);
    tuner.walked(n, 0, 0);
    EXPECT_FALSE(tuner.due());
    tuner.walked(n / 2, 0, 0);
    EXPECT_TRUE(tuner.due());
}

TEST(TreeTuner, FitsGrowthFromStepsOfDifferentSizes) {
    // Block steps: all particles in every eighth step, an eighth of them in the others. Walks for few targets cost more per target.
    Machine machine;
    auto tuner = without_alternatives();
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
    auto tuner = without_alternatives();
    EXPECT_EQ(interval(tuner, machine, 1. / 512, 1024, 16), most_walks * 16) << "walks that do not grow, or whose growth is unknown";
    EXPECT_EQ(tuner.growth(), 0);
}

TEST(TreeTuner, ChoosesTheFastestNumbers) {
    const WalkAlternatives alternatives{.many = {{.group = 32}, {.group = 64}, {.list = 256}}, .few = {{.group_extent = 2}, {.list = 512}}};
    Machine machine;
    machine.noise = 0.02;
    int walks = 0;
    machine.factor = [&](const WalkTuning& walk, index_t targets) {
        const double disturbed = ++walks % 50 == 0 ? 100 : 1;
        if (many_targets(targets, particles))
            return disturbed * (walk.group == 32 ? 0.9 : walk.group == 64 ? 0.8 : 1) * (walk.list ? 1.1 : 1);
        return disturbed * (walk.group_extent == 2 ? 0.9 : 1) * (walk.list == 512 ? 0.9 : 1);
    };
    TreeTuner tuner(particles, false, alternatives, {});
    run(tuner, machine, 500);
    const auto found = tuner.tuning();
    EXPECT_TRUE(found.many.decided);
    EXPECT_TRUE(found.few.decided);
    EXPECT_TRUE(same(found.many.walk, {.group = 64}));
    EXPECT_TRUE(same(found.few.walk, {.group_extent = 2, .list = 512}));
}

TEST(TreeTuner, KeepsAnAlternativeOnlyForTheWalksThatItMakesFaster) {
    for (const bool many : {true, false}) {
        Machine machine;
        machine.noise = 0.02;
        machine.factor = [many](const WalkTuning& walk, index_t targets) {
            if (walk.group != 64) return 1.;
            return many_targets(targets, particles) == many ? 0.9 : 1.6;
        };
        TreeTuner tuner(particles, false, {.many = {{.group = 64}}, .few = {{.group = 64}}}, {});
        run(tuner, machine, 200);
        const auto found = tuner.tuning();
        EXPECT_EQ(found.many.walk.group, many ? 64 : 0);
        EXPECT_EQ(found.few.walk.group, many ? 0 : 64);
        EXPECT_EQ(tuner.walk(particles).group, found.many.walk.group);
        EXPECT_EQ(tuner.walk(particles / 16).group, found.few.walk.group);
    }
}

TEST(TreeTuner, KeepsTheOwnChoiceIfOnlyNoiseDiffers) {
    const WalkAlternatives alternatives{.many = {{.group = 32}, {.group = 64}, {.list = 256}},
                                        .few = {{.group_extent = 2}, {.group_extent = 3}, {.group = 32}, {.list = 256}}};
    for (const double noise : {0.0, 0.05, 0.2})
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            Machine machine;
            machine.noise = noise;
            machine.state = seed;
            TreeTuner tuner(particles, false, alternatives, {});
            run(tuner, machine, 1000);
            const auto found = tuner.tuning();
            EXPECT_TRUE(found.many.decided && found.few.decided) << "noise " << noise << ", seed " << seed;
            EXPECT_TRUE(same(found.many.walk, {})) << "noise " << noise << ", seed " << seed;
            EXPECT_TRUE(same(found.few.walk, {})) << "noise " << noise << ", seed " << seed;
        }
}

TEST(TreeTuner, KeepsNoGainBelowTwoPerCent) {
    for (const double factor : {0.99, 0.97}) {
        Machine machine;
        machine.factor = [factor](const WalkTuning& walk, index_t) { return walk.group == 32 ? factor : 1; };
        TreeTuner tuner(particles, false, {.many = {{.group = 32}}, .few = {{.group = 32}}}, {});
        run(tuner, machine, 100);
        EXPECT_EQ(tuner.tuning().many.walk.group, factor < 0.98 ? 32 : 0);
        EXPECT_EQ(tuner.tuning().few.walk.group, factor < 0.98 ? 32 : 0);
    }
}

// Faster on most walks with few targets, slower on those that take most of the time.
TEST(TreeTuner, WeighsWalksByTheirTime) {
    Machine machine;
    machine.factor = [](const WalkTuning& walk, index_t targets) { return walk.group != 16 ? 1 : targets < particles / 8 ? 0.9 : 1.2; };
    TreeTuner tuner(particles, false, {.many = {}, .few = {{.group = 16}}}, {});
    run(tuner, machine, 100);
    EXPECT_TRUE(tuner.tuning().few.decided);
    EXPECT_EQ(tuner.tuning().few.walk.group, 0);
}

// Where every second, third or fourth walk of one size is slow for another reason, an alternative without effect gains nothing by it.
TEST(TreeTuner, IsNotMisledByTimesThatRepeat) {
    for (const int period : {2, 3, 4, 8}) {
        Machine machine;
        int walks = 0;
        machine.factor = [&](const WalkTuning&, index_t) { return ++walks % period == 0 ? 1.2 : 1; };
        TreeTuner tuner(particles, false, {.many = {{.group = 32}}, .few = {{.group = 32}}}, {});
        for (int k = 0; k < 1000; ++k) tuner.walked(particles, machine.walk(tuner.walk(particles), particles, 0), 0);
        walks = 0;
        for (int k = 0; k < 1000; ++k) tuner.walked(particles / 8, machine.walk(tuner.walk(particles / 8), particles / 8, 0), 0);
        EXPECT_TRUE(tuner.tuning().many.decided && tuner.tuning().few.decided) << period;
        EXPECT_EQ(tuner.tuning().many.walk.group, 0) << period;
        EXPECT_EQ(tuner.tuning().few.walk.group, 0) << period;
    }
}

TEST(TreeTuner, DropsASlowAlternativeAfterAFewWalks) {
    Machine machine;
    machine.noise = 0.02;
    machine.factor = [](const WalkTuning& walk, index_t) { return walk.group == 32 ? 1.6 : 1; };
    TreeTuner tuner(particles, false, {.many = {{.group = 32}}, .few = {{.group = 32}}}, {});
    const auto [many, few] = run(tuner, machine, 100);
    EXPECT_TRUE(tuner.tuning().many.decided && tuner.tuning().few.decided);
    EXPECT_LE(many, 8);
    EXPECT_LE(few, 16);
}

TEST(TreeTuner, ComparesNothingAgainAfterAResume) {
    Machine machine;
    machine.factor = [](const WalkTuning& walk, index_t) { return walk.group == 32 ? 0.8 : walk.list == 256 ? 1.2 : 1; };
    const WalkAlternatives alternatives{.many = {{.group = 32}}, .few = {{.list = 256}}};
    TreeTuner tuner(particles, false, alternatives, {});
    run(tuner, machine, 100);
    const auto kept = tuner.tuning();
    ASSERT_EQ(kept.many.walk.group, 32);
    ASSERT_TRUE(same(kept.few.walk, {})) << "a decision for the own choice is stored as well";
    TreeTuner resumed(particles, false, alternatives, kept);
    EXPECT_EQ(run(resumed, machine, 10, {.group = 32})[0], 0);
    TreeTuner again(particles, false, alternatives, resumed.tuning());
    EXPECT_EQ(run(again, machine, 10)[1], 0);
}

TEST(TreeTuner, StoresNoUnfinishedComparison) {
    Machine machine;
    machine.factor = [](const WalkTuning& walk, index_t) { return walk.group == 32 ? 0.8 : 1; };
    TreeTuner tuner(particles, false, {.many = {{.group = 32}, {.list = 256}}, .few = {}}, {});
    EXPECT_GT(run(tuner, machine, 4)[0], 0);
    EXPECT_FALSE(tuner.tuning().many.decided);
    EXPECT_TRUE(same(tuner.tuning().many.walk, {}));
}

TEST(TreeTuner, ComparesOnlyWhatActsOnTheWalk) {
    Tree lists, links;
    links.walk = TreeWalk::links;
    std::vector<AnySpace> spaces{Cpu{}};
#if defined(KASANE_CUDA)
    spaces.emplace_back(Cuda{});
#endif
    for (const auto& on : spaces) {
        const auto of_lists = walk_alternatives(on, lists), of_links = walk_alternatives(on, links);
        for (const auto& walk : of_lists.many) EXPECT_EQ(walk.group_extent, 0) << "it has no effect where all particles are targets";
        for (const auto* all : {&of_lists.many, &of_lists.few, &of_links.many, &of_links.few}) {
            EXPECT_FALSE(all->empty());
            for (const auto& walk : *all) EXPECT_EQ(walk.lanes, 0);
        }
        for (const auto* all : {&of_lists.many, &of_lists.few})
            for (const auto& walk : *all) EXPECT_EQ(walk.vector, 0);
        for (const auto* all : {&of_links.many, &of_links.few})
            for (const auto& walk : *all) {
                EXPECT_EQ(walk.list, 0);
                EXPECT_EQ(walk.group_extent, 0);
                EXPECT_TRUE(walk.vector > 0 || walk.group > 0);
            }
    }
    // The own choice is not an alternative to itself; on a CPU only the product of both numbers acts.
    links.vector = 2, links.group = 16;
    for (const auto& walk : walk_alternatives(Cpu{}, links).many) EXPECT_NE(walk.vector * walk.group, 32);
#if defined(KASANE_CUDA)
    links.vector = 4, links.group = 8;
    for (const auto& walk : walk_alternatives(Cuda{}, links).many) EXPECT_FALSE(walk.group == 8 && walk.vector == 0);
#endif
}

TEST(TreeTuner, DeterministicIgnoresTimes) {
    const WalkAlternatives alternatives{.many = {{.group = 32}}, .few = {{.group = 32}}};
    TreeTuner a(particles, true, alternatives, {}), b(particles, true, alternatives, {});
    double seconds = 1;
    for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(a.due(), b.due()) << k;
        if (a.due()) a.built(1), b.built(seconds);
        const index_t targets = k % 5 ? particles / 7 : particles;
        ASSERT_TRUE(same(a.walk(targets), {}));
        ASSERT_TRUE(same(b.walk(targets), {}));
        a.walked(targets, 1, 0.1);
        b.walked(targets, seconds *= 1.1, 0.1);
        ASSERT_EQ(a.expected_targets(), b.expected_targets());
    }
    EXPECT_GT(a.tuning().rebuild_interval, 1);
    EXPECT_FALSE(a.tuning().many.decided) << "a segment that is not deterministic can still tune";
}

}  // namespace
}  // namespace kasane::gravity
