#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/direct_model.hpp>
#include <kasane/gravity/performance/event_simulation.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::gravity;

TEST(EventSimulation, KernelsShareTheDevice) {
    // Two kernels that fill the device: twice the time; half of it each: no slower together; 3/4 each: 2 x 3/4 of the work in all.
    for (const auto& [part, together] : {std::pair{1.0, 2.0}, {0.5, 1.0}, {0.75, 1.5}}) {
        EventSimulation table;
        table.kernel(1, part, {});
        table.kernel(1, part, {});
        EXPECT_NEAR(table.run(), together, 1e-14) << part;
    }
}

TEST(EventSimulation, PriorityGoesFirst) {
    // From 1 on the kernel with priority has the device to itself; the other one has 2 - 1 left then.
    EventSimulation table;
    const auto low = table.kernel(2, 1, {}), before = table.message(1, 0, {}), high = table.kernel(1, 1, {before}, true);
    EXPECT_NEAR(table.run(), 3, 1e-14);
    EXPECT_NEAR(table.end_of(high), 2, 1e-14);
    EXPECT_NEAR(table.end_of(low), 3, 1e-14);
}

TEST(EventSimulation, MessagesAreHiddenOrExposed) {
    // A message of 0.5 + 1 under a kernel of 1: 0.5 of it shows before the next kernel can begin.
    EventSimulation table;
    const auto own = table.kernel(1, 1, {}), message = table.message(0.5, 1, {});
    table.kernel(1, 1, {own, message});
    EXPECT_NEAR(table.run(), 2.5, 1e-14);
    EXPECT_NEAR(table.exposed(), 0.5, 1e-14);
    // Two at once share the link, not the latency: 0.5 + 2.
    EventSimulation both;
    both.message(0.5, 1, {});
    both.message(0.5, 1, {});
    EXPECT_NEAR(both.run(), 2.5, 1e-14);
}

TEST(EventSimulation, StreamsOfThePaper) {
    // [MTM13] fig. 11: kernels that leave half of the device idle, stage after stage on two streams, messages that take no time: eqs. 4
    // and 5.
    for (int devices = 2; devices <= 256; devices *= 2) {
        EventSimulation table;
        EventSimulation::Task last[2] = {table.kernel(1, 0.5, {}), -1};
        for (int stage = 0; 1 << stage < devices; ++stage) {
            auto& stream = last[stage % 2];
            std::vector<EventSimulation::Task> after;
            if (stream >= 0) after.push_back(stream);
            stream = table.kernel(1 << stage, 0.5, after);
        }
        EXPECT_NEAR(table.run(), unfilled_seconds(devices, 1, 0), 1e-12 * devices) << devices;
        // Kernels that fill the device: their sum.
        EventSimulation filled;
        std::vector<EventSimulation::Task> none;
        filled.kernel(1, 1, none);
        for (int stage = 0; 1 << stage < devices; ++stage) filled.kernel(1 << stage, 1, none);
        EXPECT_NEAR(filled.run(), devices, 1e-12 * devices);
    }
}

TEST(EventSimulation, RefusesCyclicDependencies) {
    EventSimulation table;
    table.kernel(1, 1, {1});
    table.kernel(1, 1, {0});
    EXPECT_THROW(table.run(), InputError);
}

}  // namespace
