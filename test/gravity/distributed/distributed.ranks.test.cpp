// Direct summation on ranks: the sums of their workers, and whole simulations, are those of one rank bit by bit. The root rank has the
// simulation, and the other ranks are in worker_loop(), one call for each simulation.
#include <kasane/core/base/error.hpp>

#include <gravity/distributed/distributed_force.hpp>

#include <functional>

namespace kasane::gravity {
namespace {

const Cpu one_thread{1};

TEST(SumOfRanks, EveryPathGivesTheSumOfOne) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        expect_every_path(communicator, one_thread);
    }
}

class SimulationOfRanks : public testing::Test {
   protected:
    bool leads() const { return comm::world().rank() == 0; }

    /// body(communicator, spaces) on the root rank, which makes one simulation.
    void with_workers(int workers, const std::function<void(comm::WorkerCommunicator&, const std::vector<AnySpace>&)>& body) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), one_thread);
        if (leads())
            body(communicator, here);
        else
            worker_loop(communicator, here);
    }

    void compare(index_t n, const SimulationOptions& options, int workers, const std::vector<std::int64_t>& bursts) {
        SCOPED_TRACE(testing::Message() << n << " particles, " << workers << " workers in each of " << comm::world().size() << " ranks");
        with_workers(workers, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            const auto particles = worker_particles(n);
            Simulation alone(one_thread, particles, options);
            auto all = distributed_simulation(communicator, here, particles, options);
            expect_same(results_of(all, bursts), results_of(alone, bursts));
        });
    }
};

/// A tree on ranks has the bits of a tree on as many workers of one process.
TEST_F(SimulationOfRanks, HasTheTreeOfAsManyWorkers) {
    for (const int workers : {1, 2})
        with_workers(workers, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            const auto particles = worker_particles(1000);
            const SimulationOptions options{.force = Tree{.softening = 0.02}, .step = blocks()};
            const auto one = comm::alone();
            comm::WorkerCommunicator threads(*one, communicator.size());
            auto alone = distributed_simulation(threads, std::vector<AnySpace>(static_cast<std::size_t>(threads.size()), one_thread),
                                                particles, options);
            auto all = distributed_simulation(communicator, here, particles, options);
            const auto expected = results_of(alone, {1, 1});
            auto found = results_of(all, {1, 1});
            for (std::size_t k = 0; k < 2; ++k)  // workers' sums in double are added rank by rank
                EXPECT_NEAR(found.audit[k].median, expected.audit[k].median, 1e-12);
            found.audit = expected.audit;
            expect_same(found, expected);
            EXPECT_EQ(all.state().acceleration, alone.state().acceleration);
        });
}

TEST_F(SimulationOfRanks, IsThatOfOneRank) {
    for (const index_t n : {1, 5, 1000, 4097}) compare(n, worker_options(leapfrog), 1, {1, 2});
    compare(1000, worker_options(leapfrog), 2, {1});
    compare(1000, worker_options(adaptive()), 1, {1});
    for (const index_t n : {5, 1000}) compare(n, worker_options(blocks()), 1, {1});
    compare(1000, worker_options(blocks(), 0), 1, {1});
    compare(33, worker_options(leapfrog), 1, {63, 1, 1});
}

TEST_F(SimulationOfRanks, GoesOnWhereOneRankStopped) {
    const auto start = worker_particles(2000);
    const auto options = worker_options(blocks());
    with_workers(1, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        Simulation whole(one_thread, start, options), first(one_thread, start, options);
        whole.step(2);
        first.step(1);
        auto later = options;
        later.steps = first.steps();
        later.state = first.state();
        auto second = distributed_simulation(communicator, here, first.particles(), later);
        second.step(1);
        EXPECT_EQ(second.particles().position, whole.particles().position);
        EXPECT_EQ(second.particles().velocity, whole.particles().velocity);
        std::vector<Vec3<double>> position(2000), velocity(2000);
        second.copy_state(view(position), view(velocity));
        EXPECT_EQ(position, whole.particles().position);
        EXPECT_EQ(velocity, whole.particles().velocity);
        EXPECT_EQ(second.potential(), whole.potential());
        EXPECT_EQ(second.state().frame.origin, whole.state().frame.origin);
    });
}

TEST_F(SimulationOfRanks, BadInputIsRefusedOnRankZeroAlone) {
    auto particles = worker_particles(100);
    particles.mass[7] = -1;
    with_workers(1, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        EXPECT_THROW(distributed_simulation(communicator, here, particles, worker_options(leapfrog)), InputError);
    });
    with_workers(1, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        EXPECT_THROW(distributed_simulation(communicator, here, worker_particles(100),
                                            {.force = Tree{.mac = GeometricMac{1.5}, .softening = 0.1}, .step = leapfrog}),
                     InputError);
    });
    compare(100, worker_options(leapfrog), 1, {1});
}

TEST_F(SimulationOfRanks, ARankThatCannotMakeItIsNamed) {
    auto& ranks = comm::world();
    comm::WorkerCommunicator communicator(ranks, 1);
    const bool last = ranks.rank() == ranks.size() - 1;
    const std::vector<AnySpace> here(last ? 2 : 1, one_thread);  // one too many
    if (!leads()) return worker_loop(communicator, here);
    try {
        distributed_simulation(communicator, here, worker_particles(100), worker_options(leapfrog));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        if (ranks.size() > 1) {
            EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(ranks.size() - 1) + ":"), std::string::npos) << error.what();
        }
    }
}

TEST_F(SimulationOfRanks, ABlowUpIsReportedOnRankZeroAndTheOthersContinue) {
    auto particles = worker_particles(1000);
    particles.velocity[777] = {1e308, 1e308, 1e308};
    particles.id[777] = 4711;
    with_workers(1, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        auto sim = distributed_simulation(communicator, here, particles, worker_options(Leapfrog{1e10}));
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
