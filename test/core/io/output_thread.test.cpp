#include <kasane/core/base/error.hpp>
#include <kasane/core/io/output_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace {

using namespace kasane;
using namespace std::chrono_literals;
using io::OutputThread;

/// A job that runs until it is opened.
class Gate {
   public:
    OutputThread::Job job() {
        return [this] {
            entered_ = true;
            while (!open_) std::this_thread::sleep_for(1ms);
        };
    }
    void wait_until_entered() const {
        while (!entered_) std::this_thread::sleep_for(1ms);
    }
    void open() { open_ = true; }

   private:
    std::atomic<bool> entered_{false}, open_{false};
};

TEST(OutputThread, ExecutesJobsInTheOrderInWhichTheyAreAdded) {
    OutputThread output;
    std::vector<int> done;
    const auto here = std::this_thread::get_id();
    for (int i = 0; i < 20; ++i)
        output.add([&, i] {
            EXPECT_NE(std::this_thread::get_id(), here);
            done.push_back(i);
        });
    output.flush();
    ASSERT_EQ(done.size(), 20u);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(output.time().calls, 20);
}

TEST(OutputThread, OneJobWaitsWhileOneIsExecuted) {
    OutputThread output;
    Gate first;
    output.add(first.job());
    first.wait_until_entered();
    output.add([] {});
    std::atomic<bool> added{false};
    std::thread caller([&] {
        output.add([] {});
        added = true;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(added) << "a third job waits for the first one";
    first.open();
    caller.join();
    output.flush();
    EXPECT_EQ(output.time().calls, 3);
}

TEST(OutputThread, FreesTheDataOfAJobThatIsFinished) {
    OutputThread output;
    auto data = std::make_shared<int>(1);
    const std::weak_ptr<int> held = data;
    output.add([data] {});
    data.reset();
    output.flush();
    EXPECT_TRUE(held.expired());
}

TEST(OutputThread, FlushWaitsForTheJobThatIsExecuted) {
    OutputThread output;
    std::atomic<bool> done{false};
    output.flush();
    output.add([&] {
        std::this_thread::sleep_for(30ms);
        done = true;
    });
    output.flush();
    EXPECT_TRUE(done);
    EXPECT_GE(output.time().seconds, 0.03);
}

TEST(OutputThread, ThrowsTheErrorOfAJobOnceAndDropsTheJobBehindIt) {
    for (const int caller : {0, 1, 2}) {
        OutputThread output;
        Gate gate;
        std::atomic<bool> dropped{true}, refused{true}, later{false};
        output.add([&] {
            gate.job()();
            throw ComputationError("the disk is full");
        });
        gate.wait_until_entered();
        output.add([&] { dropped = false; });
        EXPECT_NO_THROW(output.check()) << "it has not failed yet";
        gate.open();
        while (output.time().calls == 0) std::this_thread::sleep_for(1ms);
        const auto call = [&] {
            if (caller == 0) output.add([&] { refused = false; });
            if (caller == 1) output.flush();
            if (caller == 2) output.check();
        };
        try {
            call();
            ADD_FAILURE() << "no error for caller " << caller;
        } catch (const ComputationError& error) {
            EXPECT_STREQ(error.what(), "the disk is full");
        }
        EXPECT_NO_THROW(output.flush());
        output.add([&] { later = true; });
        EXPECT_NO_THROW(output.flush());
        EXPECT_TRUE(dropped && refused && later) << caller;
    }
}

TEST(OutputThread, TheDestructorFinishesTheJobsAndDropsErrors) {
    int done = 0;
    {
        OutputThread output;
        output.add([&] { std::this_thread::sleep_for(20ms), ++done; });
        output.add([&] { ++done; });
    }
    EXPECT_EQ(done, 2);
    {
        OutputThread output;
        output.add([] { throw ComputationError("the disk is full"); });
        while (output.time().calls == 0) std::this_thread::sleep_for(1ms);
    }
    {
        const OutputThread unused;
    }
}

}  // namespace
