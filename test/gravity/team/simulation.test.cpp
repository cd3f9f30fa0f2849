// A simulation on several members of one rank is the simulation on one, bit by bit, whatever the number of members, the way of stepping and
// the way of the messages; and what goes wrong on a team is told as alone.
#include <kasane/core/base/error.hpp>

#include <gravity/space_test.hpp>
#include <gravity/team/team_cases.hpp>

namespace kasane::gravity {
namespace {

/// One rank with some members, all on one device or on one thread each.
struct OneRank {
    OneRank(AnySpace space, int members) : ranks(comm::alone()), team(*ranks, members), here(static_cast<std::size_t>(members), space) {}
    std::unique_ptr<comm::Communicator> ranks;
    comm::Team team;
    std::vector<AnySpace> here;
};

class TeamOn : public OnEverySpace {
   protected:
    void compare(const Particles& particles, const SimulationOptions& options, const std::vector<int>& teams,
                 const std::vector<std::int64_t>& bursts) {
        Simulation alone(space_, particles, options);
        const auto expected = told_by(alone, bursts);
        for (const int members : teams) {
            SCOPED_TRACE(testing::Message() << particles.size() << " particles, " << members << " members");
            OneRank rank(space_, members);
            Simulation team(rank.team, rank.here, particles, options);
            expect_same(told_by(team, bursts), expected);
        }
    }
};
KS_ON_EVERY_SPACE(TeamOn);

TEST_P(TeamOn, LeapfrogIsThatOfOneMember) {
    for (const index_t n : {1, 5, 1000}) compare(team_particles(n), team_options(leapfrog), {1, 2, 3, 4, 7, 8}, {1, 2});
    compare(team_particles(4097), team_options(leapfrog), {2, 3, 4, 7, 8}, {1});
}

TEST_P(TeamOn, AdaptiveStepsAreThoseOfOneMember) {
    for (const index_t n : {1, 5, 1000}) compare(team_particles(n), team_options(adaptive()), {2, 3, 7}, {1});
}

TEST_P(TeamOn, BlockStepsAreThoseOfOneMember) {
    for (const index_t n : {1, 5, 1000}) compare(team_particles(n), team_options(blocks()), {2, 3, 8}, {1});
}

TEST_P(TeamOn, WithoutSofteningToo) {
    compare(team_particles(1000), team_options(leapfrog, 0), {3}, {2});
    auto steps = blocks();
    steps.deepest = 8;
    compare(team_particles(1000), team_options(steps, 0), {4}, {1});
}

TEST_P(TeamOn, InDoublePrecisionToo) {
    const SimulationOptions options{.force = Direct{.softening = 0.02, .precision = Precision::double_}, .step = leapfrog};
    compare(team_particles(1000), options, {4}, {2});
}

/// What only devices have: each pair once for both its sides.
class TeamOnDevices : public TeamOn {};
KS_ON_CUDA(TeamOnDevices);

TEST_P(TeamOnDevices, BothSidesOfThePairsAtOnceToo) {
    const SimulationOptions options{.force = Direct{.softening = 0.02, .variant = DirectVariant::pair}, .step = leapfrog};
    for (const index_t n : {5, 1000, 9000}) compare(team_particles(n), options, {1, 2, 3, 4, 7, 8}, {2, 1});
}

TEST_P(TeamOn, FramesAreRenewedAsOnOneMember) { compare(team_particles(33), team_options(leapfrog), {2}, {63, 1, 1, 64}); }

TEST_P(TeamOn, AnotherTeamGoesOn) {
    const auto start = team_particles(2000);
    for (const Steps& steps : {Steps(leapfrog), Steps(blocks())}) {
        const auto options = team_options(steps, 0);
        OneRank four(space_, 4), three(space_, 3);
        Simulation whole(space_, start, options), first(four.team, four.here, start, options);
        whole.step(3);
        first.step(2);
        auto later = options;
        later.steps = first.steps();
        later.state = first.state();
        EXPECT_EQ(later.state.frame.total, start.size());
        Simulation second(three.team, three.here, first.particles(), later);
        second.step(1);
        EXPECT_EQ(second.time(), whole.time());
        EXPECT_EQ(second.particles().position, whole.particles().position);
        EXPECT_EQ(second.particles().velocity, whole.particles().velocity);
        EXPECT_EQ(second.potential(), whole.potential());
    }
}

/// A system that drifts away from where its frame was made.
TEST_P(TeamOn, FramesFollowTheParticlesAndGoOnWithTheRun) {
    auto start = team_particles(300);
    for (auto& v : start.velocity) v.x += 3;
    const auto options = team_options(leapfrog);
    OneRank two(space_, 2), three(space_, 3);
    Simulation whole(two.team, two.here, start, options);
    whole.step(64);
    const auto before = whole.state().frame;
    whole.step(2);
    const auto after = whole.state().frame;
    EXPECT_NEAR(after.origin.x - before.origin.x, 3 * 0.64, 0.5) << "what 64 steps of 0.01 have moved it, and some of the inner motion";
    for (const std::int64_t stop : {63, 64, 65}) {
        Simulation first(three.team, three.here, start, options);
        first.step(stop);
        auto later = options;
        later.steps = stop;
        later.state = first.state();
        Simulation second(space_, first.particles(), later);
        second.step(66 - stop);
        EXPECT_EQ(second.particles().position, whole.particles().position) << "stopped after " << stop;
        EXPECT_EQ(second.potential(), whole.potential());
    }
}

TEST_P(TeamOn, TellsWhichParticleBlewUpAndCanBeReplaced) {
    auto particles = team_particles(1000);
    const std::size_t bad = 777;
    particles.velocity[bad] = {1e308, 1e308, 1e308};
    particles.id[bad] = 4711;
    auto options = team_options(Leapfrog{1e10});
    OneRank rank(space_, 4);
    Simulation team(rank.team, rank.here, particles, options), alone(space_, particles, options);
    const auto message = [](Simulation& sim) -> std::string {
        try {
            sim.step(3);
        } catch (const ComputationError& error) {
            return error.what();
        }
        return "no error";
    };
    const auto said = message(team);
    EXPECT_NE(said.find("particle 777 (id 4711)"), std::string::npos) << said;
    EXPECT_EQ(said, message(alone));
    EXPECT_EQ(team.steps(), alone.steps());
    compare(team_particles(5), team_options(leapfrog), {4}, {1});
}

TEST_P(TeamOn, AuditsSeeTheRoundingsOfTheForce) {
    OneRank rank(space_, 3);
    for (const auto& [precision, least, most] : {std::tuple(Precision::single_, 1e-9, 1e-5), std::tuple(Precision::double_, 0.0, 1e-13)}) {
        Simulation team(rank.team, rank.here, team_particles(3000),
                        {.force = Direct{.softening = 0.02, .precision = precision}, .step = leapfrog});
        team.step(2);
        const auto audit = team.audit();
        EXPECT_EQ(audit.count, 256);
        EXPECT_GE(audit.max, least);
        EXPECT_LT(audit.max, most) << "2^-24 or 2^-53 of each pair, where few nearly cancel";
    }
}

TEST_P(TeamOn, RefusesATreeAndBadParticles) {
    OneRank rank(space_, 2);
    auto particles = team_particles(100);
    EXPECT_THROW(Simulation(rank.team, rank.here, particles, {.force = Tree{.softening = 0.1}, .step = leapfrog}), InputError);
    EXPECT_THROW(Simulation(rank.team, {space_}, particles, team_options(leapfrog)), InputError) << "one space for two members";
    EXPECT_THROW(Simulation(rank.team, rank.here, particles, team_options(leapfrog, -1)), InputError);
    particles.mass[3] = -1;
    EXPECT_THROW(Simulation(rank.team, rank.here, particles, team_options(leapfrog)), InputError);
}

}  // namespace
}  // namespace kasane::gravity
