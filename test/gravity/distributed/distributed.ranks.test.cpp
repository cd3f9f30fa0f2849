// Direct summation on ranks: the sums of their workers, and whole simulations, are those of one rank bit by bit. The root rank has the
// simulation, and the other ranks are in worker_loop(), one call for each simulation.
#include <kasane/core/base/error.hpp>

#include <gravity/distributed/distributed_force.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

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

/// The slab of this rank of particles that all ranks have.
RankSlab slab_of(comm::WorkerCommunicator& communicator, const Force& force, const Particles& all) {
    const auto bounds = rank_bounds(communicator, one_thread, force, all.size());
    const auto r = static_cast<std::size_t>(communicator.ranks().rank());
    const auto begin = bounds[r], end = bounds[r + 1];
    RankSlab slab;
    slab.first = begin;
    const auto part = [&](const auto& from, auto& to) { to.assign(from.begin() + begin, from.begin() + end); };
    part(all.position, slab.own.position);
    part(all.velocity, slab.own.velocity);
    part(all.mass, slab.own.mass);
    part(all.id, slab.own.id);
    part(all.type, slab.own.type);
    if (!all.softening.empty()) part(all.softening, slab.own.softening);
    return slab;
}

class SlabsOfRanks : public SimulationOfRanks {
   protected:
    /// body(slabs) on the root rank. @param task  of all ranks
    void with_slabs(
        int workers, const Force& force, const Particles& particles,
        const std::function<void(std::shared_ptr<SlabParticles>, comm::WorkerCommunicator&, const std::vector<AnySpace>&)>& body,
        const SlabTask& task = {}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), one_thread);
        auto slab = slab_of(communicator, force, particles);
        if (!leads()) return worker_loop(communicator, here, std::move(slab), task);
        body(std::make_shared<SlabParticles>(communicator, here, std::move(slab), task), communicator, here);
    }
};

Particles typed_particles(index_t n) {
    auto p = worker_particles(n);
    for (std::size_t i = 0; i < p.type.size(); ++i) {
        p.type[i] = static_cast<std::uint8_t>(i % 3);
        p.id[i] = 100'000 - 3 * i;
        if (p.type[i] == 2) p.mass[i] = 1e-4;
    }
    return p;
}

/// Simulations of slabs have the bits of those whose particles the root rank had; particles return to the slabs in their order.
TEST_F(SlabsOfRanks, HaveTheBitsOfASimulationWithAllParticles) {
    const std::vector<SimulationOptions> all{worker_options(leapfrog),
                                             worker_options(blocks()),
                                             worker_options(blocks(), 0),
                                             {.force = Tree{.softening = 0.02}, .step = blocks()}};
    for (const auto& options : all)
        for (const index_t n : {5, 1000})
            for (const int workers : {1, 2}) {
                const auto particles = typed_particles(n);
                Results expected;
                std::vector<Vec3<float>> accelerations;
                with_workers(workers, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
                    auto sim = distributed_simulation(communicator, here, particles, options);
                    expected = results_of(sim, {1, 2});
                    accelerations = sim.state().acceleration;
                });
                with_slabs(workers, options.force, particles, [&](const std::shared_ptr<SlabParticles>& slabs, auto&, const auto&) {
                    EXPECT_EQ(slabs->size(), n);
                    auto sim = distributed_simulation(slabs, options);
                    expect_same(results_of(sim, {1, 2}), expected);
                    EXPECT_TRUE(take_back(sim));
                    const auto size = static_cast<std::size_t>(n);
                    Particles back;
                    back.resize(n);
                    slabs->rows(Column::position, 0, view(back.position));
                    slabs->rows(Column::velocity, 0, view(back.velocity));
                    slabs->rows(Column::mass, 0, view(back.mass));
                    slabs->rows(Column::id, 0, view(back.id));
                    slabs->rows(Column::type, 0, view(back.type));
                    const auto& last = expected.particles.back();
                    EXPECT_EQ(back.position, last.position);
                    EXPECT_EQ(back.velocity, last.velocity);
                    EXPECT_EQ(back.mass, particles.mass);
                    EXPECT_EQ(back.id, particles.id);
                    EXPECT_EQ(back.type, particles.type);
                    EXPECT_EQ(slabs->slabs().accelerated(), !accelerations.empty());
                    if (!accelerations.empty()) {
                        std::vector<Vec3<float>> found(size);
                        slabs->rows(Column::acceleration, 0, view(found));
                        EXPECT_EQ(found, accelerations);
                    }
                    if (n < 5) return;
                    std::vector<std::uint64_t> some(3);  // across slabs
                    slabs->rows(Column::id, n / 2 - 1, view(some));
                    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(some[k], particles.id[size / 2 - 1 + k]);
                });
            }
}

TEST_F(SlabsOfRanks, KnowFactsAboutAllParticles) {
    auto particles = typed_particles(100);
    for (std::size_t i = 0; i < 100; ++i)
        particles.softening.push_back(particles.type[i] == 1 ? 0.5 : 0.125 * static_cast<double>(1 + i % 2));
    with_slabs(1, Direct{}, particles, [&](const std::shared_ptr<SlabParticles>& slabs, auto&, const auto&) {
        const auto& facts = slabs->facts();
        EXPECT_EQ(facts.count[0], 34u);
        EXPECT_EQ(facts.count[1], 33u);
        EXPECT_EQ(facts.count[5], 0u);
        EXPECT_EQ(facts.common_mass(2), 1e-4);
        EXPECT_EQ(facts.common_mass(0), 0);
        EXPECT_EQ(facts.common_softening(1), 0.5);
        EXPECT_EQ(facts.common_softening(0), 0);
        EXPECT_EQ(facts.softening(), (std::pair{0.125, 0.5}));
        EXPECT_EQ(facts.largest_mass(), *std::max_element(particles.mass.begin(), particles.mass.end()));
        EXPECT_FALSE(facts.equal_masses());
    });
}

TEST_F(SlabsOfRanks, ExecuteTasksAndRefuseBadParticles) {
    int called = 0;
    std::string text;
    with_slabs(
        1, Direct{}, typed_particles(10),
        [&](const std::shared_ptr<SlabParticles>& slabs, auto&, const auto&) {
            slabs->run("write");
            slabs->run("again");
        },
        [&](const RankSlabs& slabs, const std::string& given) {
            ++called;
            text += given + ".";
            EXPECT_EQ(slabs.total(), 10);
        });
    EXPECT_EQ(called, 3);
    EXPECT_EQ(text, "write.again..") << "the empty text is the end of the slabs";

    auto bad = typed_particles(10);
    bad.mass[9] = -1;
    comm::WorkerCommunicator communicator(comm::world(), 1);
    auto slab = slab_of(communicator, Direct{}, bad);
    if (!leads()) return worker_loop(communicator, {one_thread}, std::move(slab), {});
    EXPECT_THROW(SlabParticles(communicator, {one_thread}, std::move(slab), {}), InputError);
}

TEST_F(SlabsOfRanks, AreScatteredByTheRootRank) {
    auto& ranks = comm::world();
    const auto all = typed_particles(1000);
    std::vector<index_t> bounds;
    for (int r = 0; r <= ranks.size(); ++r) bounds.push_back(1000 * r / ranks.size());
    const auto read = [&](Column column, index_t first, index_t) -> const void* {
        return column == Column::position ? static_cast<const void*>(all.position.data() + first)
               : column == Column::mass   ? static_cast<const void*>(all.mass.data() + first)
                                          : static_cast<const void*>(all.id.data() + first);
    };
    const auto slab =
        scatter(ranks, bounds, {Column::position, Column::mass, Column::id}, leads() ? read : decltype(std::function(read)){});
    const auto begin = bounds[static_cast<std::size_t>(ranks.rank())];
    ASSERT_EQ(slab.own.size(), bounds[static_cast<std::size_t>(ranks.rank()) + 1] - begin);
    for (std::size_t k = 0; k < slab.own.mass.size(); ++k) {
        const auto i = static_cast<std::size_t>(begin) + k;
        EXPECT_EQ(slab.own.position[k], all.position[i]);
        EXPECT_EQ(slab.own.mass[k], all.mass[i]);
        EXPECT_EQ(slab.own.id[k], all.id[i]);
    }
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
