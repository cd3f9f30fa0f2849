// Channels between ranks: one worker in each, and two.
#include <core/comm/channel_play.hpp>
#include <kasane/core/base/error.hpp>

namespace kasane::comm {
namespace {

TEST(ChannelRanks, CpuOneWorker) {
    WorkerCommunicator communicator(world(), 1);
    communicator.run([](Worker& worker) {
        play_turns<Cpu>(worker, Engine::automatic, 300001, 10, false);
        play_turns<Cpu>(worker, Engine::automatic, 5000, 40, true);
        play_two_rings<Cpu>(worker, Engine::automatic, 100000);
        const Channel<Cpu> channel(Cpu{1}, worker, 0);
        EXPECT_EQ(channel.engine(), worker.size() == 1 ? Engine::copy : Engine::staged);
    });
}

TEST(ChannelRanks, CpuTwoWorkers) {
    WorkerCommunicator communicator(world(), 2);
    communicator.run([](Worker& worker) {
        play_turns<Cpu>(worker, Engine::automatic, 100001, 10, false);
        play_turns<Cpu>(worker, Engine::automatic, 5000, 20, true);
        play_two_rings<Cpu>(worker, Engine::automatic, 100000);
    });
}

TEST(ChannelRanks, LongMessages) {
    if (world().size() > 4) GTEST_SKIP() << "enough with 4 ranks";
    WorkerCommunicator communicator(world(), 1);
    communicator.run([](Worker& worker) { play_turns<Cpu>(worker, Engine::automatic, 3 << 20, 5, false); });
}

TEST(ChannelRanks, WrongEnginesAreRefusedByAll) {
    if (world().size() == 1) GTEST_SKIP() << "one rank";
    WorkerCommunicator communicator(world(), 1);
    communicator.run([](Worker& worker) {
        EXPECT_THROW(Channel<Cpu>(Cpu{1}, worker, 0, Engine::copy), InputError);
        EXPECT_THROW(Channel<Cpu>(Cpu{1}, worker, 0, Engine::nccl), InputError);
    });
}

#if defined(KASANE_CUDA)
/// All ranks must agree on whether there is a device.
std::string why_no_devices() {
    std::uint64_t devices = why_no_cuda().empty() ? 1 : 0;
    world().all_reduce(View<std::uint64_t>(&devices, 1), Reduce::min);
    return devices ? "" : "a rank has no CUDA device";
}

void on_devices(int workers, Engine engine) {
    WorkerCommunicator communicator(world(), workers);
    communicator.run([engine](Worker& worker) {
        play_turns<Cuda>(worker, engine, 300001, 10, false);
        play_turns<Cuda>(worker, engine, 5000, 40, true);
        play_two_rings<Cuda>(worker, engine, 100000);
        play_turns<Cuda>(worker, engine, (9 << 20) + 3, 3, false);  // staged: chunks
    });
}

TEST(ChannelRanks, CudaStaged) {
    if (const auto why = why_no_devices(); !why.empty()) GTEST_SKIP() << why;
    if (world().size() == 1) GTEST_SKIP() << "one rank has no other rank to send to by MPI";
    on_devices(1, Engine::staged);
    on_devices(2, Engine::staged);
}

TEST(ChannelRanks, CudaAutomatic) {
    if (const auto why = why_no_devices(); !why.empty()) GTEST_SKIP() << why;
    on_devices(1, Engine::automatic);
    WorkerCommunicator communicator(world(), 1);
    communicator.run([](Worker& worker) {
        const Channel<Cuda> channel(space_of_worker<Cuda>(worker), worker, 0);
        const bool shared = worker.size() > cuda::device_count(), nccl = !nccl_built_with().empty();
        EXPECT_EQ(channel.engine(), worker.size() == 1 ? Engine::copy : nccl && !shared ? Engine::nccl : Engine::staged) << channel.text();
    });
}

TEST(ChannelRanks, CudaNccl) {
    if (const auto why = why_no_devices(); !why.empty()) GTEST_SKIP() << why;
    for (const int workers : {1, 2}) {
        if (!nccl_built_with().empty() && world().size() * workers <= cuda::device_count()) {
            on_devices(workers, Engine::nccl);
            continue;
        }
        WorkerCommunicator communicator(world(), workers);
        communicator.run(
            [](Worker& worker) { EXPECT_THROW(Channel<Cuda>(space_of_worker<Cuda>(worker), worker, 0, Engine::nccl), InputError); });
    }
}
#endif

}  // namespace
}  // namespace kasane::comm
