// Channels between the workers of one rank.
#include <core/comm/channel_play.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <atomic>
#include <functional>

namespace kasane::comm {
namespace {

template <class S>
class Channels : public testing::Test {
   protected:
    void SetUp() override {
#if defined(KASANE_CUDA)
        if (std::same_as<S, Cuda> && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    }
    void with_workers(int workers, const std::function<void(Worker&)>& body) {
        const auto ranks = alone();
        WorkerCommunicator communicator(*ranks, workers);
        communicator.run(body);
    }
};

#if defined(KASANE_CUDA)
using Spaces = testing::Types<Cpu, Cuda>;
#else
using Spaces = testing::Types<Cpu>;
#endif
struct SpaceNames {
    template <class S>
    static std::string GetName(int) {
        return std::same_as<S, Cpu> ? "cpu" : "cuda";
    }
};
TYPED_TEST_SUITE(Channels, Spaces, SpaceNames);

TYPED_TEST(Channels, PairsAndRingsOfAnySize) {
    for (const int workers : {1, 2, 3, 4, 8})
        this->with_workers(workers, [](Worker& worker) { play_turns<TypeParam>(worker, Engine::automatic, 300001, 10, false); });
}

TYPED_TEST(Channels, LongMessages) {
    for (const int workers : {2, 3})
        this->with_workers(workers, [](Worker& worker) { play_turns<TypeParam>(worker, Engine::copy, 3 << 20, 5, false); });
}

TYPED_TEST(Channels, WorkersThatAreLate) {
    for (const int workers : {2, 4, 7})
        this->with_workers(workers, [](Worker& worker) { play_turns<TypeParam>(worker, Engine::automatic, 5000, 100, true); });
}

TYPED_TEST(Channels, TwoRingsAtOnceWithTwoBuffers) {
    for (const int workers : {1, 2, 5, 8})
        this->with_workers(workers, [](Worker& worker) { play_two_rings<TypeParam>(worker, Engine::automatic, 100000); });
}

TYPED_TEST(Channels, TellWhatTheyAre) {
    this->with_workers(2, [](Worker& worker) {
        const auto on = space_of_worker<TypeParam>(worker);
        const Channel<TypeParam> channel(on, worker, 0);
        EXPECT_EQ(channel.engine(), Engine::copy);
        EXPECT_NE(channel.text().find("copies"), std::string::npos);
        EXPECT_EQ(channel.messages(), 0);
    });
}

TYPED_TEST(Channels, RefuseAnEngineOnEveryWorkerAlike) {
    std::atomic<int> refused = 0;
    this->with_workers(3, [&](Worker& worker) {
        const auto on = space_of_worker<TypeParam>(worker);
        try {
            Channel<TypeParam>(on, worker, 0, Engine::staged);
        } catch (const InputError& error) {
            refused += std::string(error.what()).find("mpirun") != std::string::npos;
        }
        worker.barrier();
        if (std::same_as<TypeParam, Cpu>) {
            EXPECT_THROW(Channel<TypeParam>(on, worker, 0, Engine::nccl), InputError);
        }
    });
    EXPECT_EQ(refused, 3);
}

TYPED_TEST(Channels, KeepTheTimesOfTheirMessages) {
    this->with_workers(2, [](Worker& worker) {
        const auto on = space_of_worker<TypeParam>(worker);
        Channel<TypeParam> channel(on, worker, 0);
        Timeline<TypeParam> timeline(on);
        auto sent = to_space(on, contents(worker.index(), 0, 1 << 20));
        Buffer<std::byte, TypeParam> received(on, 1 << 20);
        const int other = 1 - worker.index();
        channel.keep(&timeline);
        for (int t = 0; t < 3; ++t) {
            channel.start(on, sent.view(), other, received.view(), other);
            channel.finish(on);
        }
        channel.start(on, {}, other, {}, other);  // messages without bytes have no time
        channel.finish(on);
        const auto spans = timeline.take();
        EXPECT_EQ(spans.size(), 3u);
        double before = 0;
        for (const auto& span : spans) {
            EXPECT_EQ(span.name, "message");
            EXPECT_GT(span.end, span.begin);
            EXPECT_GE(span.begin, before);
            before = span.end;
        }
        channel.keep(nullptr);
        channel.start(on, sent.view(), other, received.view(), other);
        channel.finish(on);
        EXPECT_TRUE(timeline.take().empty());
        worker.barrier();
    });
}

TYPED_TEST(Channels, SpeedIsTheSameForAll) {
    std::vector<ChannelSpeed> speeds(3);
    this->with_workers(3, [&](Worker& worker) {
        const auto on = space_of_worker<TypeParam>(worker);
        Channel<TypeParam> channel(on, worker, 0);
        speeds[static_cast<std::size_t>(worker.index())] = measure_channel(on, worker, channel, 1 << 18);
    });
    for (const auto& speed : speeds) {
        EXPECT_EQ(speed.latency_seconds, speeds[0].latency_seconds);
        EXPECT_EQ(speed.bytes_per_second, speeds[0].bytes_per_second);
        EXPECT_GT(speed.bytes_per_second, 0);
        EXPECT_EQ(speed.timings.size(), 4u);
    }
}

TEST(ChannelSpeedFit, FindsALineAndMindsShortMessages) {
    std::vector<ChannelTiming> timings;
    for (double bytes = 4096; bytes < 2e7; bytes *= 4) timings.push_back({bytes, 11e-6 + bytes / 370e9});
    auto speed = fit_channel(timings);
    EXPECT_NEAR(speed.latency_seconds, 11e-6, 1e-15);           // a few roundings of sums of 7 numbers
    EXPECT_NEAR(speed.bytes_per_second, 370e9, 370e9 * 1e-10);  // the sums differ by up to 1e4 from their difference
    timings.back().seconds *= 1.02;                             // 2% more for the longest is 1.1 us, a tenth of the latency
    speed = fit_channel(timings);
    EXPECT_NEAR(speed.latency_seconds, 11e-6, 0.02 * 11e-6);
}

#if defined(KASANE_CUDA)
TEST(ChannelsOnCuda, ReadyAndThenAreAnyStreams) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const auto ranks = alone();
    WorkerCommunicator communicator(*ranks, 2);
    communicator.run([](Worker& worker) {
        const auto here = space_of_worker<Cuda>(worker);
        cuda::Stream makes(here.device), uses(here.device);
        constexpr index_t bytes = 1 << 20, scratch_bytes = 32 << 20;
        Buffer<std::byte, Cuda> sent(here, bytes), received(here, bytes), came(here, bytes), scratch(here, scratch_bytes);
        const auto mine = to_space(here, contents(worker.index(), 0, bytes));
        Channel<Cuda> channel(here, worker, 1);
        const int other = 1 - worker.index();
        delay(makes.space(), scratch.view(), 500);
        copy_in_order(makes.space(), sent.data(), mine.data(), bytes);
        channel.start(makes.space(), sent.view(), other, received.view(), other);
        channel.finish(uses.space());
        copy_in_order(uses.space(), came.data(), received.data(), bytes);
        copy_in_order(uses.space(), sent.data(), scratch.data(), bytes);
        synchronize(uses.space());
        EXPECT_EQ(to_host(came), contents(other, 0, bytes));
        worker.barrier();
    });
}

TEST(ChannelsOnCuda, NcclServesADeviceOnce) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const auto ranks = alone();
    const int devices = cuda::device_count();
    WorkerCommunicator fits(*ranks, devices), too_many(*ranks, devices + 1);
    fits.run([](Worker& worker) {
        if (nccl_built_with().empty()) {
            EXPECT_THROW(Channel<Cuda>(space_of_worker<Cuda>(worker), worker, 0, Engine::nccl), InputError) << "this build has no NCCL";
            return;
        }
        play_turns<Cuda>(worker, Engine::nccl, 300001, 10, false);
        play_two_rings<Cuda>(worker, Engine::nccl, 100000);
    });
    std::atomic<int> refused = 0;
    too_many.run([&](Worker& worker) {
        try {
            Channel<Cuda>(space_of_worker<Cuda>(worker), worker, 0, Engine::nccl);
        } catch (const InputError& error) {
            refused += std::string(error.what()).find("share a device") != std::string::npos;
        }
    });
    EXPECT_EQ(refused, devices + 1);
}
#endif

}  // namespace
}  // namespace kasane::comm
