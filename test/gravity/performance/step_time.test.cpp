// The time of a step on a communicator, where it can be found by hand: kernels and messages that cost one thing alone.
#include <kasane/core/comm/plan.hpp>
#include <kasane/gravity/performance/step_time.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kasane::gravity {
namespace {

constexpr ForceDevice one_h200{true, 132}, processor{false, 4};
constexpr LinkTime instant{0, 1e30};

/// Pairs alone cost something.
constexpr ForceTime pairs_only{0, 0, 1e-9, 0, 0, 0, 1, 0, 0, 0, 0};

TEST(StepTime, OneWorkerTakesTheTimeOfADevice) {
    const ForceTime time{2e-6, 1.5e-10, 8.3e-9, 2.7e-8, 2e-8, 9e-6, 1.4, 0, 0, 0, 0};
    for (const index_t n : {1000, 20000, 1000000}) {
        const auto step = step_time(one_h200, {}, {}, n, 1, time, {});
        EXPECT_EQ(step.seconds, time.seconds(step_work(one_h200, {}, n, n >= 6996))) << n;
        EXPECT_EQ(step.messages, 0);
        EXPECT_EQ(step.bytes, 0);
        EXPECT_EQ(step.both_sides, n >= 6996);
    }
}

TEST(StepTime, IdealDevicesAndLinksGiveFullEfficiency) {
    // Messages that take no time, no launches: a worker's share of the work. On a processor exactly; on a device the kernels' last warps
    // are up to a work unit (both sides) or a run of sources longer than the mean.
    for (const int workers : {2, 3, 4, 8}) {
        const index_t n = 24 * 1024 * static_cast<index_t>(workers);
        const auto alone = step_time(processor, {}, {}, n, 1, pairs_only, {}),
                   communicator = step_time(processor, {}, {}, n, workers, pairs_only, instant);
        EXPECT_NEAR(communicator.seconds * workers / alone.seconds, 1, 1e-9) << workers;
        const index_t large = 262144 * static_cast<index_t>(workers);
        for (const auto form : {PairForm::one_sided, PairForm::both_sides}) {
            Exchange exchange;
            exchange.form = form;
            const auto device = step_time(one_h200, {}, exchange, large, workers, pairs_only, instant);
            const auto device_alone = step_time(one_h200, {}, exchange, large, 1, pairs_only, {});
            EXPECT_EQ(device.both_sides, form == PairForm::both_sides);
            EXPECT_NEAR(device.seconds * workers / device_alone.seconds, 1, 0.01) << workers;
            EXPECT_NEAR(device.exposed, 0, 1e-20);
        }
    }
}

TEST(StepTime, LongMessagesAreExposed) {
    // Two devices, every target with every source: own pairs and the message at once, then the others' pairs. 64 multiprocessors, which
    // the 128 blocks of 1024 targets fill.
    constexpr ForceDevice full{true, 64};
    const index_t n = 2 * 131072;
    Exchange one_sided;
    one_sided.form = PairForm::one_sided;
    const auto quick = step_time(full, {}, one_sided, n, 2, pairs_only, instant);
    const double kernel = quick.seconds / 2, bytes = 131072 * 16;
    for (const double longer : {0.5, 0.99, 1.5, 3.0}) {
        const auto step = step_time(full, {}, one_sided, n, 2, pairs_only, {0.1 * longer * kernel, bytes / (0.9 * longer * kernel)});
        EXPECT_NEAR(step.seconds, kernel * (std::max(1.0, longer) + 1), 1e-6 * kernel) << longer;
        EXPECT_NEAR(step.exposed, kernel * std::max(0.0, longer - 1), 1e-6 * kernel) << longer;
        EXPECT_EQ(step.messages, 1);
        EXPECT_EQ(step.bytes, bytes);
        // A processor carries its messages itself, between its kernels.
        const auto cpu_quick = step_time(processor, {}, one_sided, n, 2, pairs_only, instant);
        const double message = longer * cpu_quick.seconds / 2;
        EXPECT_NEAR(step_time(processor, {}, one_sided, n, 2, pairs_only, {message, 1e30}).seconds, cpu_quick.seconds + message,
                    1e-6 * message);
    }
}

TEST(StepTime, MessagesOfThePaper) {
    // log2 n accumulate, n - 1 go around the ring if the buffer has one slab ([MTM13] section 4).
    Exchange exchange;
    exchange.form = PairForm::one_sided;
    for (const auto& [workers, accumulated] : {std::pair{2, 1}, {4, 2}, {8, 3}, {256, 8}}) {
        exchange.buffer_bytes = 1e12;
        EXPECT_EQ(step_time(one_h200, {}, exchange, 67108864, workers, pairs_only, instant).messages, accumulated);
        exchange.buffer_bytes = 1;
        EXPECT_EQ(step_time(one_h200, {}, exchange, 67108864, workers, pairs_only, instant).messages, workers - 1);
    }
    // Both sides: positions and reactions for the distances up to a half.
    EXPECT_EQ(step_time(one_h200, {}, {}, 1 << 20, 8, pairs_only, instant).messages, 2 * 4);
    EXPECT_EQ(step_time(one_h200, {}, {}, 1 << 20, 2, pairs_only, instant).messages, 2);
}

TEST(StepTime, SmallKernelsGainBySharingTheDevice) {
    // Latency alone: kernels that leave most of the device idle run beside each other, so that weak efficiency is above one ([MTM13]
    // section 6.2).
    const ForceTime latency{0, 0, 1e-9, 0, 0, 0, 64, 0, 0, 0, 0};
    Exchange exchange;
    exchange.form = PairForm::one_sided;
    const auto alone = step_time(one_h200, {}, exchange, 256, 1, latency, {}),
               four = step_time(one_h200, {}, exchange, 1024, 4, latency, instant);
    EXPECT_GT(4 * alone.seconds / four.seconds, 1.5);
}

TEST(StepTime, WorkersWithoutParticles) {
    for (const index_t n : {1, 5, 300, 1000})
        for (const int workers : {2, 4, 7}) {
            const auto step = step_time(one_h200, {}, {}, n, workers, pairs_only, {1e-6, 1e9});
            EXPECT_GT(step.seconds, 0);
            EXPECT_TRUE(std::isfinite(step.seconds));
        }
}

}  // namespace
}  // namespace kasane::gravity
