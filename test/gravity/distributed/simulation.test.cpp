// A simulation on several workers of one rank has the bits of one worker, for any number of workers, any kind of steps and any engine of
// the messages; and it reports errors like a simulation on one device.
#include <kasane/core/base/error.hpp>

#include <gravity/space_test.hpp>
#include <gravity/distributed/worker_cases.hpp>

namespace kasane::gravity {
namespace {

/// One rank with some workers, all on one device or on one thread each.
struct OneRank {
    OneRank(AnySpace space, int workers)
        : ranks(comm::alone()), communicator(*ranks, workers), here(static_cast<std::size_t>(workers), space) {}
    std::unique_ptr<comm::Communicator> ranks;
    comm::WorkerCommunicator communicator;
    std::vector<AnySpace> here;
};

class WorkersOn : public OnEverySpace {
   protected:
    void compare(const Particles& particles, const SimulationOptions& options, const std::vector<int>& numbers,
                 const std::vector<std::int64_t>& bursts) {
        Simulation alone(space_, particles, options);
        const auto expected = results_of(alone, bursts);
        for (const int workers : numbers) {
            SCOPED_TRACE(testing::Message() << particles.size() << " particles, " << workers << " workers");
            OneRank rank(space_, workers);
            auto several = distributed_simulation(rank.communicator, rank.here, particles, options);
            expect_same(results_of(several, bursts), expected);
        }
    }
};
KS_ON_EVERY_SPACE(WorkersOn);

TEST_P(WorkersOn, LeapfrogIsThatOfOneWorker) {
    for (const index_t n : {1, 5, 1000}) compare(worker_particles(n), worker_options(leapfrog), {1, 2, 3, 4, 7, 8}, {1, 2});
    compare(worker_particles(4097), worker_options(leapfrog), {2, 3, 4, 7, 8}, {1});
}

TEST_P(WorkersOn, AdaptiveStepsAreThoseOfOneWorker) {
    for (const index_t n : {1, 5, 1000}) compare(worker_particles(n), worker_options(adaptive()), {2, 3, 7}, {1});
}

TEST_P(WorkersOn, BlockStepsAreThoseOfOneWorker) {
    for (const index_t n : {1, 5, 1000}) compare(worker_particles(n), worker_options(blocks()), {2, 3, 8}, {1});
}

TEST_P(WorkersOn, WithoutSofteningToo) {
    compare(worker_particles(1000), worker_options(leapfrog, 0), {3}, {2});
    auto steps = blocks();
    steps.deepest = 8;
    compare(worker_particles(1000), worker_options(steps, 0), {4}, {1});
}

TEST_P(WorkersOn, InDoublePrecisionToo) {
    const SimulationOptions options{.force = Direct{.softening = 0.02, .precision = Precision::double_}, .step = leapfrog};
    compare(worker_particles(1000), options, {4}, {2});
}

TEST_P(WorkersOn, WithASofteningForEachParticleToo) {
    for (const auto kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        for (const index_t n : {5, 1000}) {
            auto particles = worker_particles(n);
            for (index_t i = 0; i < n; ++i) particles.softening.push_back(i % 3 == 0 ? 0.3 : 0.01 * static_cast<double>(i % 3));
            const SimulationOptions options{.force = Direct{.softening_kernel = kernel}, .step = blocks()};
            compare(particles, options, {1, 2, 3, 8}, {1});
        }
}

TEST_P(WorkersOn, BothSidesOfPairsNeedOneSoftening) {
    auto particles = worker_particles(50);
    particles.softening.assign(50, 0.1), particles.softening[7] = 0.2;
    OneRank two(space_, 2);
    const Exchange exchange{.form = PairForm::both_sides};
    try {
        distributed_simulation(two.communicator, two.here, particles, worker_options(leapfrog), exchange);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("one Plummer softening"), std::string::npos) << error.what();
    }
}

/// What only devices have: each pair once for both its sides.
class WorkersOnDevices : public WorkersOn {};
KS_ON_CUDA(WorkersOnDevices);

TEST_P(WorkersOnDevices, BothSidesOfThePairsAtOnceToo) {
    const SimulationOptions options{.force = Direct{.softening = 0.02, .variant = DirectVariant::pair}, .step = leapfrog};
    for (const index_t n : {5, 1000, 9000}) compare(worker_particles(n), options, {1, 2, 3, 4, 7, 8}, {2, 1});
}

TEST_P(WorkersOn, FramesAreRenewedAsOnOneWorker) { compare(worker_particles(33), worker_options(leapfrog), {2}, {63, 1, 1, 64}); }

TEST_P(WorkersOn, AnotherCommunicatorGoesOn) {
    const auto start = worker_particles(2000);
    for (const Steps& steps : {Steps(leapfrog), Steps(blocks())}) {
        const auto options = worker_options(steps, 0);
        OneRank four(space_, 4), three(space_, 3);
        Simulation whole(space_, start, options);
        auto first = distributed_simulation(four.communicator, four.here, start, options);
        whole.step(3);
        first.step(2);
        auto later = options;
        later.steps = first.steps();
        later.state = first.state();
        EXPECT_EQ(later.state.frame.total, start.size());
        auto second = distributed_simulation(three.communicator, three.here, first.particles(), later);
        second.step(1);
        EXPECT_EQ(second.time(), whole.time());
        EXPECT_EQ(second.particles().position, whole.particles().position);
        EXPECT_EQ(second.particles().velocity, whole.particles().velocity);
        EXPECT_EQ(second.potential(), whole.potential());
    }
}

/// A system that drifts away from the position at which its frame was made.
TEST_P(WorkersOn, FramesFollowTheParticlesAndGoOnWithTheRun) {
    auto start = worker_particles(300);
    for (auto& v : start.velocity) v.x += 3;
    const auto options = worker_options(leapfrog);
    OneRank two(space_, 2), three(space_, 3);
    auto whole = distributed_simulation(two.communicator, two.here, start, options);
    whole.step(64);
    const auto before = whole.state().frame;
    whole.step(2);
    const auto after = whole.state().frame;
    EXPECT_NEAR(after.origin.x - before.origin.x, 3 * 0.64, 0.5) << "what 64 steps of 0.01 have moved it, and some of the inner motion";
    for (const std::int64_t stop : {63, 64, 65}) {
        auto first = distributed_simulation(three.communicator, three.here, start, options);
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

TEST_P(WorkersOn, TellsWhichParticleBlewUpAndCanBeReplaced) {
    auto particles = worker_particles(1000);
    const std::size_t bad = 777;
    particles.velocity[bad] = {1e308, 1e308, 1e308};
    particles.id[bad] = 4711;
    auto options = worker_options(Leapfrog{1e10});
    OneRank rank(space_, 4);
    auto several = distributed_simulation(rank.communicator, rank.here, particles, options);
    Simulation alone(space_, particles, options);
    const auto message = [](Simulation& sim) -> std::string {
        try {
            sim.step(3);
        } catch (const ComputationError& error) {
            return error.what();
        }
        return "no error";
    };
    const auto said = message(several);
    EXPECT_NE(said.find("particle 777 (id 4711)"), std::string::npos) << said;
    EXPECT_EQ(said, message(alone));
    EXPECT_EQ(several.steps(), alone.steps());
    compare(worker_particles(5), worker_options(leapfrog), {4}, {1});
}

TEST_P(WorkersOn, AuditsSeeTheRoundingsOfTheForce) {
    OneRank rank(space_, 3);
    for (const auto& [precision, least, most] : {std::tuple(Precision::single_, 1e-9, 1e-5), std::tuple(Precision::double_, 0.0, 1e-13)}) {
        auto several = distributed_simulation(rank.communicator, rank.here, worker_particles(3000),
                                              {.force = Direct{.softening = 0.02, .precision = precision}, .step = leapfrog});
        several.step(2);
        const auto audit = several.audit();
        EXPECT_EQ(audit.count, 256);
        EXPECT_GE(audit.max, least);
        EXPECT_LT(audit.max, most) << "2^-24 or 2^-53 of each pair, where few nearly cancel";
    }
}

TEST_P(WorkersOn, RefusesBadParticles) {
    OneRank rank(space_, 2);
    auto particles = worker_particles(100);
    EXPECT_THROW(distributed_simulation(rank.communicator, {space_}, particles, worker_options(leapfrog)), InputError)
        << "one space for two workers";
    EXPECT_THROW(distributed_simulation(rank.communicator, rank.here, particles, worker_options(leapfrog, -1)), InputError);
    particles.mass[3] = -1;
    EXPECT_THROW(distributed_simulation(rank.communicator, rank.here, particles, worker_options(leapfrog)), InputError);
}

}  // namespace
}  // namespace kasane::gravity
