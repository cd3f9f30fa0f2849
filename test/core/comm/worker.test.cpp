// WorkerCommunicators of one rank: collective calls of workers, and the end of a run when one worker fails.
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
TEST_P(WorkersOfOneRank, ABarrierHoldsEveryWorker) { a_barrier_holds_every_worker(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, SumsAreThoseOfTheWorkersInOrder) { sums_are_those_of_the_workers_in_order(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, EveryWorkerCanBroadcast) { every_worker_can_broadcast(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, PointersArriveInOrder) { pointers_arrive_in_order(*ranks, GetParam()); }
TEST_P(WorkersOfOneRank, AnErrorOfAllWorkersIsThrown) { an_error_of_all_workers_is_thrown(*ranks, GetParam()); }
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

class WorkerFailureDeathTest : public testing::Test {
   protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(WorkerFailureDeathTest, AWorkerThatThrowsWhileOthersWaitForItEndsAll) {
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

TEST_F(WorkerFailureDeathTest, AWorkerThatThrowsWhileOthersFinishEndsAll) {
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

TEST_F(WorkerFailureDeathTest, WorkersThatFailTogetherWriteOneMessage) {
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
