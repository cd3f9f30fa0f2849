// What holds for a team of any number of ranks and members: used with one rank (team.test.cpp) and under a launcher (team.ranks.test.cpp).
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/team.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace kasane::test {

using namespace kasane::comm;

inline void every_member_runs_once_on_its_own_thread(Communicator& ranks, int here) {
    Team team(ranks, here);
    EXPECT_EQ(team.size(), ranks.size() * here);
    EXPECT_EQ(team.members_here(), here);
    std::vector<std::thread::id> first(static_cast<std::size_t>(here));
    for (int time = 0; time < 20; ++time) {
        std::vector<int> calls(static_cast<std::size_t>(here));
        std::vector<std::thread::id> thread(static_cast<std::size_t>(here));
        team.run([&](Member& member) {
            const auto local = static_cast<std::size_t>(member.local());
            EXPECT_EQ(member.index(), ranks.rank() * here + member.local());
            EXPECT_EQ(member.size(), ranks.size() * here);
            EXPECT_EQ(member.rank_of(member.index()), ranks.rank());
            EXPECT_EQ(member.local_of(member.index()), member.local());
            ++calls[local];
            thread[local] = std::this_thread::get_id();
        });
        EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(here), 1));
        if (time == 0) first = thread;
        EXPECT_EQ(thread, first);
        EXPECT_EQ(thread[0], std::this_thread::get_id());
    }
}

inline void a_barrier_lets_nobody_ahead(Communicator& ranks, int here) {
    Team team(ranks, here);
    std::vector<int> turn(static_cast<std::size_t>(here));
    team.run([&](Member& member) {
        for (int t = 1; t <= 200; ++t) {
            turn[static_cast<std::size_t>(member.local())] = t;
            member.barrier();
            for (const int other : turn) EXPECT_EQ(other, t);
            member.barrier();
        }
    });
}

/// Sums whose value depends on their order: only the order of the members gives these bits.
inline void sums_are_those_of_the_members_in_order(Communicator& ranks, int here) {
    Team team(ranks, here);
    const auto value = [](int member, int i) { return std::sin(1.0 + member + 17.0 * i) * std::pow(10.0, (member * 7 + i) % 13); };
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
            for (int m = 1; m < team.size(); ++m) least[k] = std::min(least[k], value(m, i)), most[k] = std::max(most[k], value(m, i));
        }
        team.run([&](Member& member) {
            const auto reduced = [&](Reduce how) {
                std::vector<double> x(static_cast<std::size_t>(n));
                for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = value(member.index(), i);
                member.all_reduce(view(x), how);
                return x;
            };
            EXPECT_EQ(reduced(Reduce::sum), sum);
            EXPECT_EQ(reduced(Reduce::min), least);
            EXPECT_EQ(reduced(Reduce::max), most);
            std::uint64_t bit = std::uint64_t{1} << member.index();
            member.all_reduce(View<std::uint64_t>{&bit, 1}, Reduce::sum);
            EXPECT_EQ(bit, (std::uint64_t{1} << member.size()) - 1);
            for (int bad = 0; bad < member.size(); ++bad)
                for (const auto how : {Reduce::min, Reduce::max}) {
                    double x = member.index() == bad ? std::numeric_limits<double>::quiet_NaN() : 1.0;
                    member.all_reduce(View<double>{&x, 1}, how);
                    EXPECT_TRUE(std::isnan(x)) << "of member " << bad;
                }
        });
    }
}

inline void every_member_can_broadcast(Communicator& ranks, int here) {
    Team team(ranks, here);
    team.run([&](Member& member) {
        for (int root = 0; root < member.size(); ++root)
            for (const std::size_t bytes : {0u, 1u, 100000u}) {
                const auto mine = member.index() == root ? static_cast<unsigned char>(root + 1) : static_cast<unsigned char>(0);
                std::vector<unsigned char> x(bytes + 1, mine);
                member.broadcast(x.data(), bytes, root);
                std::vector<unsigned char> expected(bytes, static_cast<unsigned char>(root + 1));
                expected.push_back(mine);  // what lies behind is not touched
                EXPECT_EQ(x, expected);
            }
    });
}

inline void what_is_handed_over_arrives_in_order(Communicator& ranks, int here) {
    Team team(ranks, here);
    std::vector<int> objects(100);
    team.run([&](Member& member) {
        const int next = (member.local() + 1) % here, before = (member.local() + here - 1) % here;
        for (std::size_t i = 0; i < objects.size(); ++i) member.hand(next, static_cast<int>(i % 3), &objects[i]);
        for (int slot = 2; slot >= 0; --slot)  // not as they were given: slots are apart
            for (std::size_t i = static_cast<std::size_t>(slot); i < objects.size(); i += 3)
                EXPECT_EQ(member.take(before, slot), &objects[i]);
    });
}

inline void what_all_throw_is_thrown_here(Communicator& ranks, int here) {
    Team team(ranks, here);
    for (int time = 0; time < 3; ++time) {
        try {
            team.run([&](Member& member) {
                double x = member.index() == 0 ? 1 : 0;
                member.all_reduce(View<double>{&x, 1}, Reduce::max);
                if (x > 0) throw ComputationError("the run blew up, says member " + std::to_string(member.local()));
            });
            FAIL() << "nothing was thrown";
        } catch (const ComputationError& error) {
            EXPECT_STREQ(error.what(), "the run blew up, says member 0");
        }
        int runs = 0;  // and the team is as good as new
        team.run([&](Member& member) {
            member.barrier();
            if (member.local() == 0) ++runs;
        });
        EXPECT_EQ(runs, 1);
    }
}

}  // namespace kasane::test
