// WorkerCommunicators of one rank: what workers do together, and what becomes of a worker that fails alone.
#include <test/core/comm/worker_cases.hpp>

#include <gtest/gtest.h>

#include <omp.h>

namespace {

using namespace kasane;
using namespace kasane::comm;
using namespace kasane::test;

class WorkersOfOneRank : public testing::TestWithParam<int> {
   protected:
    std::unique_ptr<Communicator> ranks = alone();
};

TEST_P(WorkersOfOneRank, EveryWorkerRunsOnceOnItsOwnThread) { every_worker_runs_once_on_its_own_thread(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, ABarrierLetsNobodyAhead) { a_barrier_lets_nobody_ahead(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, SumsAreThoseOfTheWorkersInOrder) { sums_are_those_of_the_workers_in_order(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, EveryWorkerCanBroadcast) { every_worker_can_broadcast(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, WhatIsHandedOverArrivesInOrder) { what_is_handed_over_arrives_in_order(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, WhatAllThrowIsThrownHere) { what_all_throw_is_thrown_here(*ranks, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Workers, WorkersOfOneRank, testing::Values(1, 2, 3, 8));

TEST(WorkerCommunicator, AWorkerOpensRegionsOfItsOwn) {
    const auto ranks = alone();
    WorkerCommunicator communicator(*ranks, 2);
    std::vector<int> threads(2);
    communicator.run([&](Worker& worker) {
#pragma omp parallel num_threads(3)
#pragma omp single
        threads[static_cast<std::size_t>(worker.local())] = omp_get_num_threads();
    });
    EXPECT_EQ(threads, std::vector<int>(2, 3));
}

TEST(WorkerCommunicator, NeedsAWorker) {
    const auto ranks = alone();
    EXPECT_THROW(WorkerCommunicator(*ranks, 0), InputError);
}

class WorkerDeath : public testing::Test {
   protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(WorkerDeath, AWorkerThatThrowsWhileOthersWaitForItEndsAll) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            WorkerCommunicator communicator(*ranks, 3, {"cuda:0", "cuda:1", "cuda:2"});
            communicator.run([&](Worker& worker) {
                if (worker.local() == 1) throw ComputationError("the device is lost");
                worker.barrier();
            });
        },
        testing::ExitedWithCode(1), "^error: rank 0 \\(host [^,]+, cuda:1\\): the device is lost\n$");
}

TEST_F(WorkerDeath, AWorkerThatThrowsWhileOthersFinishEndsAll) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            WorkerCommunicator communicator(*ranks, 2);
            communicator.run([&](Worker& worker) {
                if (worker.local() == 0) throw InputError("the file is gone");
            });
        },
        testing::ExitedWithCode(2), "^error: rank 0 \\(host [^,]+, worker 0\\): the file is gone\n$");
}

TEST_F(WorkerDeath, WhoeverFailsTogetherOneMessageIsWritten) {
    EXPECT_EXIT(
        {
            const auto ranks = alone();
            WorkerCommunicator communicator(*ranks, 4);
            communicator.run([&](Worker& worker) {
                if (worker.local() > 0) throw ComputationError("no");
                worker.take(1, 0);
            });
        },
        testing::ExitedWithCode(1), "^error: rank 0 \\(host [^,]+, worker [123]\\): no\n$");
}

}  // namespace
