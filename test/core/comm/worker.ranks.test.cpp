// WorkerCommunicators of several ranks, with one, two and three workers each.
#include <test/core/comm/worker_cases.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;
using namespace kasane::comm;
using namespace kasane::test;

class WorkersOfRanks : public testing::TestWithParam<int> {};

TEST_P(WorkersOfRanks, EveryWorkerRunsOnceOnItsOwnThread) { every_worker_runs_once_on_its_own_thread(world(), GetParam()); }
TEST_P(WorkersOfRanks, ABarrierHoldsEveryWorker) { a_barrier_holds_every_worker(world(), GetParam()); }
TEST_P(WorkersOfRanks, SumsAreThoseOfTheWorkersInOrder) { sums_are_those_of_the_workers_in_order(world(), GetParam()); }
TEST_P(WorkersOfRanks, EveryWorkerCanBroadcast) { every_worker_can_broadcast(world(), GetParam()); }
TEST_P(WorkersOfRanks, PointersArriveInOrder) { pointers_arrive_in_order(world(), GetParam()); }
TEST_P(WorkersOfRanks, AnErrorOfAllWorkersIsThrown) { an_error_of_all_workers_is_thrown(world(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(Workers, WorkersOfRanks, testing::Values(1, 2, 3));

/// Workers of all ranks in a ring, each sending to the next and receiving from the one before, from their own threads at the same time.
TEST(WorkersOfRanks, WorkersSendFromTheirOwnThreads) {
    auto& ranks = world();
    WorkerCommunicator communicator(ranks, 3);
    communicator.run([&](Worker& worker) {
        const int next = (worker.index() + 3) % worker.size(), before = (worker.index() + worker.size() - 3) % worker.size();
        for (int turn = 0; turn < 50; ++turn) {
            const std::size_t n = static_cast<std::size_t>(turn * turn * 10 + 1);
            std::vector<double> mine(n, worker.index() + 0.5 * turn), theirs(n);
            const auto receipt = ranks.start_receive(theirs.data(), n * sizeof(double), worker.rank_of(before), worker.local());
            const auto sent = ranks.start_send(mine.data(), n * sizeof(double), worker.rank_of(next), worker.local());
            ranks.wait(receipt);
            ranks.wait(sent);
            EXPECT_EQ(theirs, std::vector<double>(n, before + 0.5 * turn));
        }
    });
}

TEST(WorkersOfRanks, RefusesDifferentNumbersOfWorkers) {
    auto& ranks = world();
    if (ranks.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
    try {
        WorkerCommunicator communicator(ranks, ranks.rank() == ranks.size() - 1 ? 2 : 1);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(ranks.size() - 1) + " has 2"), std::string::npos) << error.what();
    }
}

}  // namespace
