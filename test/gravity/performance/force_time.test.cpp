// The model of a step: its counts against the schedule counted by hand, its fit against times made from known parameters, and against the
// times of an H200 in the repository's record.
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/performance/calibrate.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>

namespace kasane::gravity {
namespace {

constexpr ForceDevice h200{true, 132};

TEST(ForceTime, CountsOfBothSides) {
    for (const index_t n : {1000, 4096, 8192, 65536, 100000}) {
        const auto shape = pair_shape(Precision::single_, n);
        const auto work = both_sides_work(h200, Precision::single_, n, 0, n, 0, n);
        // B tiles have B (B + 1) / 2 tile pairs of tile^2 pairs, evaluated by 32 lanes at a time.
        const auto tiles = static_cast<double>(shape.tiles(n)), tile = static_cast<double>(shape.tile());
        EXPECT_DOUBLE_EQ(work.whole * 132 * 4 * 32, tiles * (tiles + 1) / 2 * tile * tile) << n;
        EXPECT_LE(work.chain, work.issue);
        EXPECT_LE(work.whole, work.issue);
        EXPECT_EQ(work.targets, shape.targets_per_lane);
        // The shares before and after add up to the whole, and their longest warps to no less than the longest of the whole.
        const auto before = both_sides_work(h200, Precision::single_, n, 0, n, 0, n, Share::before);
        const auto after = both_sides_work(h200, Precision::single_, n, 0, n, 0, n, Share::after);
        EXPECT_NEAR(before.whole, work.whole / 4, 0.001 * work.whole + 32.0 * 16 * 16 / 528);
        EXPECT_NEAR(before.whole + after.whole, work.whole, 1e-9 * work.whole);
        EXPECT_GE(before.chain + after.chain, work.chain);
        // Warps take further chunks where there are more work units than warps: above 6,144 particles with 8 targets per lane.
        EXPECT_EQ(work.takes, n > 4096 ? 1 : 0) << n;
        EXPECT_EQ(before.takes, 0);
    }
}

TEST(ForceTime, CountsOfOneSide) {
    // 32,768 targets on 132 multiprocessors: 32 blocks of 256 threads with 4 targets each, two to a multiprocessor, so 264 at a time;
    // with 8 shares there are 256 of them, on each of which 128 runs of 256 sources are 16 each. A block is two warps per scheduler.
    const auto schedule = tile_schedule(32768, 32768, Precision::single_, false, 132);
    ASSERT_EQ(schedule.target_blocks * schedule.shares, 256);
    const auto work = one_sided_work(h200, Precision::single_, 32768, 32768, 32768);
    EXPECT_EQ(work.chain, 16 * 256 * 4);
    EXPECT_EQ(work.issue, 2 * 2 * work.chain);
    EXPECT_DOUBLE_EQ(work.whole * 132 * 4 * 32, 32768.0 * 32768.0);
    EXPECT_EQ(one_sided_work(h200, Precision::single_, 0, 100, 100).issue, 0);
    // A CPU: 1000 targets are 250 groups of 4, for 3 threads; 1000 sources are four grains of 256, each as long as 40 interactions more.
    const auto cpu = one_sided_work({false, 3}, Precision::single_, 1000, 1000, 1000);
    EXPECT_DOUBLE_EQ(cpu.issue, 1000.0 / 3 * (1000 + 4 * 40));
    EXPECT_EQ(cpu.issue, cpu.chain);
}

TEST(ForceTime, CountsOfGroups) {
    // 8,192 targets: 32 blocks of 512 threads, 256 targets and 4 runs, with 8 shares: two of the 256 blocks on the fullest multiprocessor.
    const auto work = step_work(h200, {}, 8192, false);
    ASSERT_EQ(work.kernels.size(), 1u);
    EXPECT_EQ(work.kernels[0].chain, 256 * 2);
    EXPECT_EQ(work.kernels[0].issue, 2 * 4 * 256 * 2);
    EXPECT_DOUBLE_EQ(work.kernels[0].whole * 132 * 4 * 32, 8192.0 * 8192.0);
    EXPECT_EQ(work.kernels[0].additions, 4);
}

TEST(ForceTime, FormIsChosenBySize) {
    EXPECT_TRUE(takes_both_sides(h200, {}, 8448, 1));
    EXPECT_FALSE(takes_both_sides(h200, {}, 8192, 1));
    EXPECT_TRUE(takes_both_sides(h200, {.precision = Precision::double_}, 8192, 1));
    EXPECT_FALSE(takes_both_sides(h200, {.precision = Precision::double_}, 4096, 1));
    EXPECT_TRUE(takes_both_sides(h200, {.variant = DirectVariant::pair}, 4096, 1));
    EXPECT_FALSE(takes_both_sides(h200, {.variant = DirectVariant::tile}, 65536, 1));
    EXPECT_FALSE(takes_both_sides({false, 64}, {}, 65536, 1));
}

TEST(ForceTime, FormOfSeveralWorkersIsChosenBySizeUnlessTheirBitsMustAgree) {
    for (const int workers : {1, 2, 4}) EXPECT_TRUE(takes_both_sides(h200, {.deterministic = true}, 8448, workers)) << workers;
    const Direct options{.deterministic = false};
    EXPECT_TRUE(takes_both_sides(h200, options, 8448, 1));
    EXPECT_FALSE(takes_both_sides(h200, options, 8192, 2));
    EXPECT_FALSE(takes_both_sides(h200, options, 16000, 2));
    EXPECT_TRUE(takes_both_sides(h200, options, 16384, 2));
    EXPECT_TRUE(takes_both_sides(h200, {.variant = DirectVariant::pair, .deterministic = false}, 8192, 2));
}

/// Deviation of a fit from known times at sizes that were not fitted.
double largest_deviation(const ForceDevice& device, bool both, const ForceTime& truth, double noise) {
    std::vector<ForceWork> work;
    std::vector<double> seconds;
    std::uint64_t k = 0;
    for (double n = 1024; n <= 1048576; n *= std::sqrt(2.0), ++k) {
        work.push_back(step_work(device, {}, static_cast<index_t>(n), both));
        seconds.push_back(truth.seconds(work.back()) * (1 + noise * (2 * RandomStream(3, k).uniform() - 1)));
    }
    const auto fit = fit_force_time(work, seconds);
    EXPECT_LE(fit.largest, 2.5 * noise + 1e-3);
    EXPECT_EQ(fit.fewest, 1024);
    double largest = 0;
    for (double n = 1111; n <= 4000000; n *= 1.37) {
        const auto here = step_work(device, {}, static_cast<index_t>(n), both);
        largest = std::max(largest, std::abs(fit.seconds(here) / truth.seconds(here) - 1));
    }
    return largest;
}

TEST(ForceTime, RecoversKnownTimes) {
    // Without noise L alone is not exact: its grid has steps of 2%. With 1% of noise on 21 sizes and 6 parameters, a prediction's error
    // is of the noise's own size.
    const ForceTime truth{2e-6, 1.5e-10, 8.3e-9, 2.7e-8, 2e-8, 9e-6, 1.4, 0, 0, 0, 0};
    for (const bool both : {true, false}) {
        EXPECT_LT(largest_deviation(h200, both, truth, 0), 0.01) << both;
        EXPECT_LT(largest_deviation(h200, both, truth, 0.01), 0.02) << both;
    }
    const ForceTime processor{1e-6, 3e-9, 2e-10, 0, 0, 0, 1, 0, 0, 0, 0};
    EXPECT_LT(largest_deviation({false, 8}, false, processor, 0), 1e-6);
    EXPECT_LT(largest_deviation({false, 8}, false, processor, 0.01), 0.02);
}

TEST(ForceTime, FitsTheRecordOfAnH200) {
    // Bar: 5% from N = 1024 on.
    std::ifstream file(KASANE_SOURCE_DIR "/bench/results/h200/2026-11-22-direct.json");
    const auto record = nlohmann::json::parse(file);
    std::map<std::string, std::pair<std::vector<ForceWork>, std::vector<double>>> cases;
    for (const auto& row : record["results"]) {
        const auto name = row["case"].get<std::string>();
        if (!name.starts_with("gravity.direct.pair")) continue;
        Direct options;
        if (name.find("double") != std::string::npos) options.precision = Precision::double_;
        auto& [work, seconds] = cases[name];
        work.push_back(step_work(h200, options, row["n"].get<index_t>(), true));
        seconds.push_back(row["seconds"].get<double>());
    }
    ASSERT_EQ(cases.size(), 4u);
    for (const auto& [name, measured] : cases) {
        const auto fit = fit_force_time(measured.first, measured.second);
        EXPECT_LT(fit.largest, 0.05) << name;
        EXPECT_GT(fit.launch, 5e-7) << name;  // a launch takes a device some microseconds
        EXPECT_LT(fit.launch, 5e-6) << name;
    }
}

TEST(ForceTime, PartOfTheDevice) {
    ForceTime time{0, 0, 1e-9, 0, 0, 0, 1, 0, 0, 0, 0};
    KernelWork work{1, 100, 400, 100, 0};
    EXPECT_DOUBLE_EQ(time.seconds(work), 400e-9);
    EXPECT_DOUBLE_EQ(time.part(work), 0.25);
    time.hiding = 8;  // latency: the longest warp takes 8 times its steps
    EXPECT_DOUBLE_EQ(time.seconds(work), 800e-9);
    EXPECT_DOUBLE_EQ(time.part(work), 0.125);
}

TEST(ForceTime, GoesThroughItsEntry) {
    ForceCalibration calibration;
    calibration.device = h200;
    calibration.time = {1e-6, 2e-10, 3e-9, 4e-9, 5e-9, 6e-9, 1.5, 0.01, 0.02, 1024, 65536};
    const auto entry = calibration.entry("a device");
    EXPECT_EQ(entry.key, force_key("a device", calibration.method));
    const auto known = known_force(entry);
    EXPECT_TRUE(known.device.cuda);
    EXPECT_EQ(known.device.units, 132);
    EXPECT_EQ(known.time.launch, 1e-6);
    EXPECT_EQ(known.time.particle, 2e-10);
    EXPECT_EQ(known.time.step, 3e-9);
    EXPECT_EQ(known.time.load, 4e-9);
    EXPECT_EQ(known.time.addition, 5e-9);
    EXPECT_EQ(known.time.take, 6e-9);
    EXPECT_EQ(known.time.hiding, 1.5);
    EXPECT_EQ(known.time.scatter, 0.01);
    EXPECT_EQ(known.time.largest, 0.02);
    EXPECT_EQ(known.time.fewest, 1024);
    EXPECT_EQ(known.time.most, 65536);
    auto damaged = entry;
    damaged.numbers.erase("load");
    EXPECT_THROW(known_force(damaged), InputError);
    damaged = entry;
    damaged.numbers["units"] = 0;
    EXPECT_THROW(known_force(damaged), InputError);
}

TEST(ForceTime, CalibratesAProcessor) {
    // Checks that the calibration ends with a model that can be evaluated; its speed depends on the machine.
    const auto measured = calibrate_force(Cpu{1}, {}, 0.1);
    EXPECT_EQ(measured.sizes.size(), 7u);
    EXPECT_EQ(measured.sizes.size(), measured.seconds.size());
    EXPECT_GT(measured.time.seconds(step_work(measured.device, {}, 100000, false)), 0);
    struct Stopped {};
    EXPECT_THROW(calibrate_force(Cpu{1}, {}, 0.9, [](double, const std::string&) { throw Stopped(); }), Stopped);
}

}  // namespace
}  // namespace kasane::gravity
