// Blocks that devices of one rank read from each other.
#include <core/comm/channel_play.hpp>
#include <kasane/core/comm/peer_reads.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <gtest/gtest.h>

namespace kasane::comm {
namespace {

TEST(PeerReads, NeedDevices) {
    const auto ranks = alone();
    WorkerCommunicator communicator(*ranks, 3);
    communicator.run([](Worker& worker) { EXPECT_EQ(PeerReads::connect(Cpu{1}, worker, 0), nullptr); });
}

#if defined(KASANE_CUDA)

/// Bytes from one worker to another in a turn: none, fewer than a word, and numbers that no word divides.
index_t bytes_of(int from, int to, int turn) {
    constexpr index_t sizes[] = {0, 5, 4096, 300001, 1 << 20};
    return sizes[(3 * from + 5 * to + turn) % 5];
}

/// Each worker sends a block of each size to each other one, between two guards. The blocks of a worker follow each other, so that their
/// places have any alignment. Each turn overwrites what the one before received, and frees what it sent.
void play(Worker& worker, int turns, bool late) {
    const auto on = space_of_worker<Cuda>(worker);
    const auto peers = PeerReads::connect(on, worker, 0);
    ASSERT_NE(peers, nullptr);
    const int workers = worker.size(), me = worker.index();
    const index_t space = static_cast<index_t>(workers) * ((1 << 20) + 1);
    Buffer<std::byte, Cuda> in(on, space), scratch(on, 1 << 25);
    for (int turn = 0; turn < turns; ++turn) {
        Buffer<std::byte, Cuda> out(on, space);  // freed while other workers may be behind
        std::vector<View<const std::byte>> send(static_cast<std::size_t>(workers));
        std::vector<View<std::byte>> receive(static_cast<std::size_t>(workers));
        index_t sent = 0, taken = 0;
        if (late && me == turn % workers) delay(on, scratch.view(), 300);
        for (int w = 0; w < workers; ++w) {
            if (w == me) continue;
            const index_t to = bytes_of(me, w, turn), from = bytes_of(w, me, turn);
            const auto made = contents(1 + me * workers + w, turn, to);
            const View<std::byte> block(out.data() + sent, to);
            if (to > 0) copy_from_host(on, block, view(made));
            send[static_cast<std::size_t>(w)] = block;
            receive[static_cast<std::size_t>(w)] = {in.data() + taken, from};
            sent += to + 1, taken += from + 1;
        }
        peers->start(on, send);
        peers->read(on, receive);
        peers->release();
        out = {};
        if (late && me == (turn + 1) % workers) delay(on, scratch.view(), 300);
        for (int w = 0; w < workers; ++w) {
            const auto& block = receive[static_cast<std::size_t>(w)];
            std::vector<std::byte> found(static_cast<std::size_t>(block.n));
            if (block.n > 0) copy_to_host(on, view(found), View<const std::byte>(block));
            EXPECT_EQ(found, contents(1 + w * workers + me, turn, block.n)) << w << " to " << me << ", turn " << turn;
        }
    }
    worker.barrier();
}

TEST(PeerReads, BlocksOfAnySizeAndPlace) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    for (const bool late : {false, true})
        for (const int workers : {2, 3, 4, 7}) {
            const auto ranks = alone();
            WorkerCommunicator communicator(*ranks, workers);
            communicator.run([&](Worker& worker) { play(worker, 12, late); });
        }
}

TEST(PeerReads, MoreWorkersThanOneKernelReads) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const auto ranks = alone();
    WorkerCommunicator communicator(*ranks, 19);
    communicator.run([&](Worker& worker) { play(worker, 2, false); });
}

#endif

}  // namespace
}  // namespace kasane::comm
