// Ends of runs of several ranks: the cases that end.test.cpp starts, each as a separate run.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using namespace kasane;
using namespace kasane::comm;

TEST(DISABLED_End, InOrder) { world().barrier(); }

/// A worker of rank 1 throws while all others wait for it.
TEST(DISABLED_End, OneThrows) {
    WorkerCommunicator communicator(world(), 2, {"cuda:0", "cuda:1"});
    communicator.run([](Worker& worker) {
        if (worker.index() == 3) throw ComputationError("the device is lost");
        worker.barrier();
    });
}

/// Both workers of rank 1 throw, so that nothing on that rank waits for them.
TEST(DISABLED_End, OneRankThrows) {
    WorkerCommunicator communicator(world(), 2);
    communicator.run([](Worker& worker) {
        if (worker.ranks().rank() == 1) throw InputError("the disk is full");
        worker.barrier();
    });
}

/// Every rank ends the run by itself, at the same moment.
TEST(DISABLED_End, AllAtOnce) {
    auto& ranks = world();
    ranks.barrier();
    end_run(ranks, rank_text(ranks), "enough", 1);
}

TEST(DISABLED_End, OneIsKilled) {
    auto& ranks = world();
    ranks.barrier();
    if (ranks.rank() == 1) std::raise(SIGKILL);
    ranks.barrier();
}

/// All ranks leave with a failure status; rank 0 is the last to give the reason.
TEST(DISABLED_End, AllWithAStatus) {
    auto& ranks = world();
    ranks.barrier();
    if (ranks.rank() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::fprintf(stderr, "rank 0 says why\n");
    }
    std::exit(2);
}

}  // namespace
