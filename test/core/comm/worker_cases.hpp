// Properties of a communicator of any number of ranks and workers: tested with one rank (communicator.test.cpp) and under a launcher
// (communicator.ranks.test.cpp).
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace kasane::test {

using namespace kasane::comm;

inline void every_worker_runs_once_on_its_own_thread(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    EXPECT_EQ(communicator.size(), ranks.size() * here);
    EXPECT_EQ(communicator.workers_per_rank(), here);
    std::vector<std::thread::id> first(static_cast<std::size_t>(here));
    for (int time = 0; time < 20; ++time) {
        std::vector<int> calls(static_cast<std::size_t>(here));
        std::vector<std::thread::id> thread(static_cast<std::size_t>(here));
        communicator.run([&](Worker& worker) {
            const auto local = static_cast<std::size_t>(worker.local());
            EXPECT_EQ(worker.index(), ranks.rank() * here + worker.local());
            EXPECT_EQ(worker.size(), ranks.size() * here);
            EXPECT_EQ(worker.rank_of(worker.index()), ranks.rank());
            EXPECT_EQ(worker.local_of(worker.index()), worker.local());
            ++calls[local];
            thread[local] = std::this_thread::get_id();
        });
        EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(here), 1));
        if (time == 0) first = thread;
        EXPECT_EQ(thread, first);
        EXPECT_EQ(thread[0], std::this_thread::get_id());
    }
}

inline void a_barrier_holds_every_worker(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    std::vector<int> turn(static_cast<std::size_t>(here));
    communicator.run([&](Worker& worker) {
        for (int t = 1; t <= 200; ++t) {
            turn[static_cast<std::size_t>(worker.local())] = t;
            worker.barrier();
            for (const int other : turn) EXPECT_EQ(other, t);
            worker.barrier();
        }
    });
}

/// Sums whose value depends on their order: only the order of the workers gives these bits.
inline void sums_are_those_of_the_workers_in_order(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    const auto value = [](int worker, int i) { return std::sin(1.0 + worker + 17.0 * i) * std::pow(10.0, (worker * 7 + i) % 13); };
    for (const int n : {0, 1, 300}) {
        std::vector<double> sum(static_cast<std::size_t>(n)), least = sum, most = sum;
        for (int i = 0; i < n; ++i) {
            double total = 0;
            for (int r = 0; r < ranks.size(); ++r) {
                double of_rank = value(r * here, i);
                for (int l = 1; l < here; ++l) of_rank += value(r * here + l, i);
                total = r == 0 ? of_rank : total + of_rank;
            }
            const auto k = static_cast<std::size_t>(i);
            sum[k] = total, least[k] = most[k] = value(0, i);
            for (int m = 1; m < communicator.size(); ++m)
                least[k] = std::min(least[k], value(m, i)), most[k] = std::max(most[k], value(m, i));
        }
        communicator.run([&](Worker& worker) {
            const auto reduced = [&](Reduce how) {
                std::vector<double> x(static_cast<std::size_t>(n));
                for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = value(worker.index(), i);
                worker.all_reduce(view(x), how);
                return x;
            };
            EXPECT_EQ(reduced(Reduce::sum), sum);
            EXPECT_EQ(reduced(Reduce::min), least);
            EXPECT_EQ(reduced(Reduce::max), most);
            std::uint64_t bit = std::uint64_t{1} << worker.index();
            worker.all_reduce(View<std::uint64_t>{&bit, 1}, Reduce::sum);
            EXPECT_EQ(bit, (std::uint64_t{1} << worker.size()) - 1);
            for (int bad = 0; bad < worker.size(); ++bad)
                for (const auto how : {Reduce::min, Reduce::max}) {
                    double x = worker.index() == bad ? std::numeric_limits<double>::quiet_NaN() : 1.0;
                    worker.all_reduce(View<double>{&x, 1}, how);
                    EXPECT_TRUE(std::isnan(x)) << "of worker " << bad;
                }
        });
    }
}

inline void every_worker_can_broadcast(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    communicator.run([&](Worker& worker) {
        for (int root = 0; root < worker.size(); ++root)
            for (const std::size_t bytes : {0u, 1u, 100000u}) {
                const auto mine = worker.index() == root ? static_cast<unsigned char>(root + 1) : static_cast<unsigned char>(0);
                std::vector<unsigned char> x(bytes + 1, mine);
                worker.broadcast(x.data(), bytes, root);
                std::vector<unsigned char> expected(bytes, static_cast<unsigned char>(root + 1));
                expected.push_back(mine);  // later elements must not change
                EXPECT_EQ(x, expected);
            }
    });
}

inline void pointers_arrive_in_order(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    std::vector<int> objects(100);
    communicator.run([&](Worker& worker) {
        const int next = (worker.local() + 1) % here, before = (worker.local() + here - 1) % here;
        for (std::size_t i = 0; i < objects.size(); ++i) worker.hand(next, static_cast<int>(i % 3), &objects[i]);
        for (int slot = 2; slot >= 0; --slot)  // in another order than given: slots are independent
            for (std::size_t i = static_cast<std::size_t>(slot); i < objects.size(); i += 3)
                EXPECT_EQ(worker.take(before, slot), &objects[i]);
    });
}

inline void an_error_of_all_workers_is_thrown(Communicator& ranks, int here) {
    WorkerCommunicator communicator(ranks, here);
    for (int time = 0; time < 3; ++time) {
        try {
            communicator.run([&](Worker& worker) {
                double x = worker.index() == 0 ? 1 : 0;
                worker.all_reduce(View<double>{&x, 1}, Reduce::max);
                if (x > 0) throw ComputationError("the run blew up, says worker " + std::to_string(worker.local()));
            });
            FAIL() << "nothing was thrown";
        } catch (const ComputationError& error) {
            EXPECT_STREQ(error.what(), "the run blew up, says worker 0");
        }
        int runs = 0;  // and the communicator can be used again
        communicator.run([&](Worker& worker) {
            worker.barrier();
            if (worker.local() == 0) ++runs;
        });
        EXPECT_EQ(runs, 1);
    }
}

}  // namespace kasane::test
