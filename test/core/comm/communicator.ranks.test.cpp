// Messages between ranks: any number of ranks, any size of message, in order.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace {

using namespace kasane;
using namespace kasane::comm;

TEST(Ranks, AreNumbered) {
    auto& ranks = world();
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(ranks.size()));
    seen[static_cast<std::size_t>(ranks.rank())] = 1;
    ranks.all_reduce(view(seen), Reduce::sum);
    for (const auto times : seen) EXPECT_EQ(times, 1u);
    const auto places = ranks.all_gather(ranks.host() + " " + std::to_string(ranks.local_rank()));
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), places.size());
    EXPECT_LT(ranks.local_rank(), ranks.local_size());
    EXPECT_NE(ranks.engine(), "");
    EXPECT_EQ(&world(), &ranks);
}

TEST(Ranks, GatherTextsOfAnyLength) {
    auto& ranks = world();
    const auto text = [](int rank) {
        return std::string(static_cast<std::size_t>(rank % 3 == 1 ? 0 : 40000 * rank), static_cast<char>('a' + rank));
    };
    const auto all = ranks.all_gather(text(ranks.rank()));
    ASSERT_EQ(static_cast<int>(all.size()), ranks.size());
    for (int r = 0; r < ranks.size(); ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], text(r)) << r;
}

TEST(Ranks, BroadcastFromEveryRoot) {
    auto& ranks = world();
    for (int root = 0; root < ranks.size(); ++root)
        for (const std::size_t bytes : {0u, 1u, 3u, 1u << 20}) {
            std::vector<char> data(bytes, static_cast<char>(ranks.rank() == root ? root + 1 : 0));
            ranks.broadcast(data.data(), bytes, root);
            EXPECT_EQ(data, std::vector<char>(bytes, static_cast<char>(root + 1)));
        }
}

/// More values than are reduced at a time, and sums that only one order gives.
TEST(Ranks, ReduceInTheirOrder) {
    auto& ranks = world();
    const auto value = [](int rank, std::size_t i) {
        return (rank % 2 ? -1e16 : 1e16) + static_cast<double>(rank + 1) * static_cast<double>(i);
    };
    for (const std::size_t n : {0u, 1u, 8192u, 8193u, 20000u}) {
        std::vector<double> here(n), expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            here[i] = value(ranks.rank(), i);
            expected[i] = value(0, i);
            for (int r = 1; r < ranks.size(); ++r) expected[i] += value(r, i);
        }
        ranks.all_reduce(view(here), Reduce::sum);
        EXPECT_EQ(here, expected);
    }
    std::vector<std::uint64_t> least{5, ~std::uint64_t{0} - static_cast<std::uint64_t>(ranks.rank())}, most = least;
    ranks.all_reduce(view(least), Reduce::min);
    ranks.all_reduce(view(most), Reduce::max);
    EXPECT_EQ(least, (std::vector<std::uint64_t>{5, ~std::uint64_t{0} - static_cast<std::uint64_t>(ranks.size() - 1)}));
    EXPECT_EQ(most, (std::vector<std::uint64_t>{5, ~std::uint64_t{0}}));
}

/// From every rank to every rank, itself included: various sizes, all open at once, waited for in another order than started.
TEST(Ranks, MessagesArriveInTheOrderSent) {
    auto& ranks = world();
    constexpr int turns = 6;
    const auto length = [](int turn) { return static_cast<std::size_t>(turn * turn * turn * turn * 100); };  // 0 to 62500 numbers
    const auto value = [](int from, int to, int turn) { return 10000 * from + 100 * to + turn; };
    std::vector<std::vector<int>> sent, received;
    std::vector<Communicator::Request> requests;
    for (int other = 0; other < ranks.size(); ++other)
        for (int turn = 0; turn < turns; ++turn) {
            received.emplace_back(length(turn));
            requests.push_back(ranks.start_receive(received.back().data(), length(turn) * sizeof(int), other, 8191));
        }
    for (int other = 0; other < ranks.size(); ++other)
        for (int turn = 0; turn < turns; ++turn) {
            sent.emplace_back(length(turn), value(ranks.rank(), other, turn));
            requests.push_back(ranks.start_send(sent.back().data(), length(turn) * sizeof(int), other, 8191));
        }
    std::reverse(requests.begin(), requests.end());
    for (const auto request : requests) ranks.wait(request);
    for (int other = 0; other < ranks.size(); ++other)
        for (int turn = 0; turn < turns; ++turn)
            EXPECT_EQ(received[static_cast<std::size_t>(other * turns + turn)],
                      std::vector<int>(length(turn), value(other, ranks.rank(), turn)));
}

TEST(Ranks, TagsAreApart) {
    auto& ranks = world();
    const int next = (ranks.rank() + 1) % ranks.size(), before = (ranks.rank() + ranks.size() - 1) % ranks.size();
    const int one = 1, two = 2;
    const auto first = ranks.start_send(&one, sizeof one, next, 1), second = ranks.start_send(&two, sizeof two, next, 2);
    int of_two = 0, of_one = 0;
    ranks.receive(&of_two, sizeof of_two, before, 2);
    ranks.receive(&of_one, sizeof of_one, before, 1);
    ranks.wait(second);
    ranks.wait(first);
    EXPECT_EQ(of_one, 1);
    EXPECT_EQ(of_two, 2);
}

/// MPI counts in int, so that long messages are sent in blocks of 2^30 bytes. With two ranks only, because of memory and time.
TEST(Ranks, MessagesOfSeveralBlocks) {
    auto& ranks = world();
    if (ranks.size() != 2) GTEST_SKIP() << "with two ranks alone";
    const std::size_t bytes = (std::size_t{1} << 30) + 12345;
    const auto mark = [](std::size_t i) { return static_cast<char>(i % 251); };
    const std::unique_ptr<char[]> data(new char[bytes]);  // must not change outside the message
    const std::size_t looked_at[] = {0, (std::size_t{1} << 30) - 1, std::size_t{1} << 30, bytes - 1};
    const auto fill = [&](int shift) {
        for (const auto i : looked_at) data[i] = static_cast<char>(mark(i) + shift);
    };
    fill(ranks.rank() == 0 ? 0 : 1);
    if (ranks.rank() == 0)
        ranks.send(data.get(), bytes, 1, 0);
    else
        ranks.receive(data.get(), bytes, 0, 0);
    for (const auto i : looked_at) EXPECT_EQ(data[i], mark(i)) << i;
    fill(ranks.rank() == 1 ? 2 : 3);
    ranks.broadcast(data.get(), bytes, 1);
    for (const auto i : looked_at) EXPECT_EQ(data[i], static_cast<char>(mark(i) + 2)) << i;
}

TEST(Ranks, AMessageOfAnotherLengthIsReported) {
    auto& ranks = world();
    const int next = (ranks.rank() + 1) % ranks.size(), before = (ranks.rank() + ranks.size() - 1) % ranks.size();
    const char text[] = "eight..";
    const auto sent = ranks.start_send(text, 8, next, 7);
    char scratch[16];
    EXPECT_THROW(ranks.receive(scratch, 16, before, 7), ComputationError);
    ranks.wait(sent);
    ranks.barrier();
}

TEST(Ranks, TheFirstRanksHaveTheirOwnCommunicator) {
    auto& ranks = world();
    for (int count = 0; count <= ranks.size(); ++count) {
        const auto some = ranks.first(count);
        EXPECT_EQ(some != nullptr, ranks.rank() < count);
        if (!some) continue;
        EXPECT_EQ(some->size(), count);
        EXPECT_EQ(some->rank(), ranks.rank());
        std::uint64_t sum = 1;
        some->all_reduce({&sum, 1}, Reduce::sum);
        EXPECT_EQ(sum, static_cast<std::uint64_t>(count));
        EXPECT_TRUE(some->all_here(60));
    }
}

TEST(Ranks, AllHereOnlyWhenAllAre) {
    auto& ranks = world();
    const auto first = ranks.first(ranks.size());
    if (ranks.rank() == 0) {
        EXPECT_EQ(first->all_here(0.05), ranks.size() == 1);
    }
    ranks.barrier();
    if (ranks.rank() != 0) {
        EXPECT_TRUE(first->all_here(60));  // rank 0 has called it before
    }
}

TEST(Ranks, MustHaveTheSame) {
    auto& ranks = world();
    EXPECT_NO_THROW(require_same(ranks, "builds", "0.1.0 (abc)"));
    if (ranks.size() == 1) return;
    try {
        require_same(ranks, "builds", ranks.rank() == 1 ? "0.1.0 (def)" : "0.1.0 (abc)");
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "the ranks have different builds: rank 0 has 0.1.0 (abc), rank 1 has 0.1.0 (def); give all of them the same");
    }
}

}  // namespace
