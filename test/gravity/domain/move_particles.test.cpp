// Particles move to the domains of their keys, whatever the number of those that leave and arrive.
#include <gravity/domain/domain_cases.hpp>
#include <gravity/space_test.hpp>

#include <kasane/gravity/domain/move_particles.hpp>

#include <random>

namespace kasane::test {
namespace {

class ParticleMovesOn : public OnEverySpace {
   protected:
    /// Moves particles by keys of their numbers, several times, and compares with the definition.
    /// @param key_of  (number of the particle, move)   @param most_records  as of ParticleMoves
    void expect_moves(int workers, index_t n, const std::vector<std::uint64_t>& boundary,
                      const std::function<std::uint64_t(std::uint32_t, int)>& key_of, index_t most_records = 1 << 20) {
        const auto of = make({Shape::plummer, n, 0.02});
        constexpr int moves = 4;
        std::visit(
            [&]<Space S>(S on) {
                const auto ranks = comm::alone();
                comm::WorkerCommunicator communicator(*ranks, workers);
                std::vector<std::vector<std::vector<std::uint32_t>>> held(moves);
                for (auto& of_workers : held) of_workers.resize(static_cast<std::size_t>(workers));
                communicator.run([&](comm::Worker& worker) {
                    auto system = slab_system(on, of, worker.index(), workers);
                    Channels<S> channels(on, worker, 0, comm::Engine::automatic);
                    ParticleMoves<S> move(on, most_records);
                    for (int m = 0; m < moves; ++m) {
                        const auto before = to_host(system.given);
                        std::vector<std::uint64_t> key;
                        for (const auto i : before) key.push_back(key_of(i, m));
                        GrowingBuffer<std::uint64_t, S> there(on, system.count());
                        copy_from_host(on, there.view(), view(key));
                        const bool changed = move(worker, channels, system, there, boundary);
                        const auto after = to_host(system.given);
                        EXPECT_EQ(changed, after != before);
                        EXPECT_EQ(system.count(), static_cast<index_t>(after.size()));
                        std::size_t stay = 0, moved_here = 0;
                        for (std::size_t k = 0; k < before.size(); ++k) {
                            if (domain_of(key[k], boundary) != worker.index()) continue;
                            ++stay;
                            moved_here += k >= after.size() || after[k] != before[k];
                        }
                        // Those that do not stay in their places are at most as many as particles left beyond those that arrived.
                        const std::size_t arrived = after.size() - stay, left = before.size() - stay;
                        EXPECT_LE(moved_here, left > arrived ? left - arrived : 0);
                        const auto x = to_host(system.position), v = to_host(system.velocity);
                        const auto mass = to_host(system.mass);
                        const auto level = to_host(system.level);
                        const auto moved_key = to_host(there);
                        ASSERT_EQ(x.size(), after.size());
                        ASSERT_EQ(moved_key.size(), after.size());
                        ASSERT_EQ(level.size(), after.size());
                        for (std::size_t k = 0; k < after.size(); ++k) {
                            EXPECT_EQ(x[k], of.position[after[k]]);
                            EXPECT_EQ(v[k], (Vec3<double>{0.5 * after[k], 1, -static_cast<double>(after[k])}));
                            EXPECT_EQ(mass[k], of.mass[after[k]]);
                            EXPECT_EQ(level[k], 0);
                            EXPECT_EQ(moved_key[k], key_of(after[k], m));
                        }
                        held[static_cast<std::size_t>(m)][static_cast<std::size_t>(worker.index())] = after;
                    }
                });
                for (int m = 0; m < moves; ++m) {
                    std::vector<int> found(static_cast<std::size_t>(n));
                    for (int w = 0; w < workers; ++w)
                        for (const auto i : held[static_cast<std::size_t>(m)][static_cast<std::size_t>(w)]) {
                            ++found[i];
                            EXPECT_EQ(domain_of(key_of(i, m), boundary), w);
                        }
                    EXPECT_EQ(std::count(found.begin(), found.end(), 1), n);
                }
            },
            space_);
    }
};
KS_ON_EVERY_SPACE(ParticleMovesOn);

/// Keys from 0 to 999,999.
std::uint64_t scattered(std::uint32_t i, int move) {
    std::mt19937_64 draw(1000003ull * i + static_cast<std::uint64_t>(move));
    return draw() % 1000000;
}

TEST_P(ParticleMovesOn, SendsEachParticleToTheDomainOfItsKey) {
    for (const index_t n : {0, 1, 5, 1000, 20000}) {
        SCOPED_TRACE(testing::Message() << n << " particles");
        expect_moves(2, n, {500000}, scattered);
        expect_moves(5, n, {10, 400000, 400000, 900000}, scattered);  // small, equal and empty domains
    }
}

TEST_P(ParticleMovesOn, SendsManyInQuarters) {
    expect_moves(2, 3000, {500000}, scattered, 100);
    expect_moves(5, 3000, {10, 400000, 400000, 900000}, scattered, 0);
}

TEST_P(ParticleMovesOn, MovesFew) {
    // A hundredth of the particles move; in the third move all go to domain 0 and in the fourth they come back.
    const auto key_of = [](std::uint32_t i, int move) -> std::uint64_t {
        if (move == 2) return 0;
        return scattered(i, 0) < 10000 ? scattered(i, move) : (i * 1000003ull) % 1000000;
    };
    expect_moves(2, 20000, {300000}, key_of);
    expect_moves(4, 20000, {200000, 600000, 999990}, key_of);
}

TEST_P(ParticleMovesOn, KeepsTheMemoryOfSystems) {
    std::visit(
        [&]<Space S>(S on) {
            const auto of = make({Shape::plummer, 1000, 0.02});
            auto system = slab_system(on, of, 0, 1);
            const auto* const before = system.position.data();
            system.resize(500);
            system.resize(1000);
            EXPECT_EQ(system.position.data(), before);
            EXPECT_EQ(to_host(system.position), of.position);
            system.resize(1001);
            auto grown = to_host(system.position);
            grown.pop_back();
            EXPECT_EQ(grown, of.position);
            const auto* const larger = system.position.data();
            system.resize(1050);
            EXPECT_EQ(system.position.data(), larger) << "a sixteenth is in reserve";
        },
        space_);
}

}  // namespace
}  // namespace kasane::test
