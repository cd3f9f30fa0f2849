// Direct summation on ranks: the sums of their members, and whole simulations, are those of one rank bit by bit. Rank 0 has the simulation,
// the other ranks serve it, one call of serve() for each.
#include <kasane/core/base/error.hpp>

#include <gravity/team/member_sum.hpp>

#include <functional>

namespace kasane::gravity {
namespace {

const Cpu one_thread{1};

TEST(SumOfRanks, EveryPathGivesTheSumOfOne) {
    for (const int members : {1, 2}) {
        comm::Team team(comm::world(), members);
        expect_every_path(team, one_thread);
    }
}

class SimulationOfRanks : public testing::Test {
   protected:
    bool leads() const { return comm::world().rank() == 0; }

    /// body(team, spaces) on rank 0, which makes one simulation.
    void serve_one(int members, const std::function<void(comm::Team&, const std::vector<AnySpace>&)>& body) {
        comm::Team team(comm::world(), members);
        const std::vector<AnySpace> here(static_cast<std::size_t>(members), one_thread);
        if (leads())
            body(team, here);
        else
            serve(team, here);
    }

    void compare(index_t n, const SimulationOptions& options, int members, const std::vector<std::int64_t>& bursts) {
        SCOPED_TRACE(testing::Message() << n << " particles, " << members << " members in each of " << comm::world().size() << " ranks");
        serve_one(members, [&](comm::Team& team, const std::vector<AnySpace>& here) {
            const auto particles = team_particles(n);
            Simulation alone(one_thread, particles, options), all(team, here, particles, options);
            expect_same(told_by(all, bursts), told_by(alone, bursts));
        });
    }
};

TEST_F(SimulationOfRanks, IsThatOfOneRank) {
    for (const index_t n : {1, 5, 1000, 4097}) compare(n, team_options(leapfrog), 1, {1, 2});
    compare(1000, team_options(leapfrog), 2, {1});
    compare(1000, team_options(adaptive()), 1, {1});
    for (const index_t n : {5, 1000}) compare(n, team_options(blocks()), 1, {1});
    compare(1000, team_options(blocks(), 0), 1, {1});
    compare(33, team_options(leapfrog), 1, {63, 1, 1});
}

TEST_F(SimulationOfRanks, GoesOnWhereOneRankStopped) {
    const auto start = team_particles(2000);
    const auto options = team_options(blocks());
    serve_one(1, [&](comm::Team& team, const std::vector<AnySpace>& here) {
        Simulation whole(one_thread, start, options), first(one_thread, start, options);
        whole.step(2);
        first.step(1);
        auto later = options;
        later.steps = first.steps();
        later.state = first.state();
        Simulation second(team, here, first.particles(), later);
        second.step(1);
        EXPECT_EQ(second.particles().position, whole.particles().position);
        EXPECT_EQ(second.particles().velocity, whole.particles().velocity);
        EXPECT_EQ(second.potential(), whole.potential());
        EXPECT_EQ(second.state().frame.origin, whole.state().frame.origin);
    });
}

TEST_F(SimulationOfRanks, BadInputIsRefusedOnRankZeroAlone) {
    auto particles = team_particles(100);
    particles.mass[7] = -1;
    serve_one(1, [&](comm::Team& team, const std::vector<AnySpace>& here) {
        EXPECT_THROW(Simulation(team, here, particles, team_options(leapfrog)), InputError);
    });
    serve_one(1, [&](comm::Team& team, const std::vector<AnySpace>& here) {
        EXPECT_THROW(Simulation(team, here, team_particles(100), {.force = Tree{.softening = 0.1}, .step = leapfrog}), InputError);
    });
    compare(100, team_options(leapfrog), 1, {1});
}

TEST_F(SimulationOfRanks, ARankThatCannotMakeItIsNamed) {
    auto& ranks = comm::world();
    comm::Team team(ranks, 1);
    const bool last = ranks.rank() == ranks.size() - 1;
    const std::vector<AnySpace> here(last ? 2 : 1, one_thread);  // one too many
    if (!leads()) return serve(team, here);
    try {
        Simulation(team, here, team_particles(100), team_options(leapfrog));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        if (ranks.size() > 1) {
            EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(ranks.size() - 1) + ":"), std::string::npos) << error.what();
        }
    }
}

TEST_F(SimulationOfRanks, WhatBlowsUpIsToldOnRankZeroAndTheOthersServeOn) {
    auto particles = team_particles(1000);
    particles.velocity[777] = {1e308, 1e308, 1e308};
    particles.id[777] = 4711;
    serve_one(1, [&](comm::Team& team, const std::vector<AnySpace>& here) {
        Simulation sim(team, here, particles, team_options(Leapfrog{1e10}));
        try {
            sim.step(2);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ComputationError& error) {
            EXPECT_NE(std::string(error.what()).find("particle 777 (id 4711)"), std::string::npos) << error.what();
        }
        EXPECT_EQ(sim.particles().size(), particles.size());
    });
}

}  // namespace
}  // namespace kasane::gravity
