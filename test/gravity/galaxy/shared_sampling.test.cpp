// Several processes that draw one galaxy or one ball together have the particles of one, bit by bit. Threads take the place of the
// processes.
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

namespace kasane::gravity {
namespace {

/// Arrays of several threads, added in their order.
class Adding {
   public:
    explicit Adding(int threads) : all_(static_cast<std::size_t>(threads)), barrier_(threads) {}
    void operator()(int thread, View<double> values) {
        all_[static_cast<std::size_t>(thread)].assign(values.begin(), values.end());
        barrier_.arrive_and_wait();
        std::vector<double> sum(static_cast<std::size_t>(values.n));
        for (const auto& each : all_)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += each[i];
        barrier_.arrive_and_wait();
        std::copy(sum.begin(), sum.end(), values.begin());
    }

   private:
    std::vector<std::vector<double>> all_;
    std::barrier<> barrier_;
};

/// Particles of a Galaxy or a Ball, drawn by parts with these bounds.
template <class Model>
Particles drawn_together(const Model& model, const std::vector<index_t>& bounds) {
    const auto processes = static_cast<int>(bounds.size()) - 1;
    Adding adding(processes);
    std::vector<Particles> parts(static_cast<std::size_t>(processes));
    std::vector<std::jthread> threads;
    for (int p = 0; p < processes; ++p)
        threads.emplace_back([&, p] {
            const auto k = static_cast<std::size_t>(p);
            parts[k] = sample(model, Cpu{1}, bounds[k], bounds[k + 1] - bounds[k], [&](View<double> values) { adding(p, values); });
        });
    threads.clear();
    Particles all;
    for (const auto& part : parts) all.append(part);
    return all;
}

void expect_same_particles(const Particles& together, const Particles& one) {
    EXPECT_TRUE(together.position == one.position);
    EXPECT_TRUE(together.velocity == one.velocity);
    EXPECT_TRUE(together.mass == one.mass);
    EXPECT_TRUE(together.id == one.id);
    EXPECT_TRUE(together.type == one.type);
}

TEST(SharedSampling, HasTheBitsOfOneProcess) {
    const GalaxyModel model{.components = {{.law = Hernquist{}, .mass = 3, .scale = 1, .count = 150'001},
                                           {.law = Plummer{}, .mass = 1, .scale = 0.2, .count = 4'097},
                                           {.law = BlackHole{}, .mass = 0.1}},
                            .seed = 12};
    const Galaxy galaxy(model, Cpu{1});
    const auto one = sample(galaxy, Cpu{1});
    const index_t n = one.size();
    const auto expect_same = [&](const std::vector<index_t>& bounds) {
        SCOPED_TRACE(testing::PrintToString(bounds));
        expect_same_particles(drawn_together(galaxy, bounds), one);
    };
    for (const int processes : {1, 2, 3, 4, 7}) {
        std::vector<index_t> bounds;
        for (int p = 0; p <= processes; ++p) bounds.push_back(n * p / processes);
        expect_same(bounds);
    }
    expect_same({0, 4096, 4096, 4097, 8191, 65536, 150'000, 150'001, 150'002, n - 1, n});
    expect_same({0, 1, 2, 3, n, n});
}

TEST(SharedSampling, HasTheBitsOfOneProcessForBalls) {
    for (const auto motion : {Ball::Motion::uniform, Ball::Motion::cold}) {
        const Ball ball{.motion = motion, .count = 150'001, .seed = 7, .mass = 2, .radius = 3};
        const auto one = sample(ball, Cpu{1});
        const index_t n = ball.count;
        for (const auto& bounds : std::vector<std::vector<index_t>>{
                 {0, n}, {0, n / 2, n}, {0, 1, 65536, 65537, n - 1, n}, {0, 0, 5, 5, n, n}, {0, n / 7, n / 3, n / 2, n / 2 + 1, n}}) {
            SCOPED_TRACE(testing::PrintToString(bounds));
            expect_same_particles(drawn_together(ball, bounds), one);
        }
    }
    EXPECT_THROW(sample(Ball{}, Cpu{1}, 0, 0, [](View<double>) {}), InputError);
}

}  // namespace
}  // namespace kasane::gravity
