// Nodes that move between refreshes: against the moments of bodies that have moved, and in steps with few active particles.
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/tree/node_motion.hpp>

#include <test/gravity/space_test.hpp>

#include <cmath>

namespace kasane::gravity {
namespace {

class NodeMotionOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(NodeMotionOn);

/// Bodies of a Plummer sphere in curve order, in uniform motion, and their tree.
template <Space S>
struct Moving {
    S on;
    Octree<S> octree;
    std::vector<Vec3<double>> x, v;
    std::vector<double> m;

    explicit Moving(S space) : on(space), octree(on, Tree{.softening = 0.02}) {
        const auto p = plummer({.count = 4096, .seed = 5});
        octree.sort(to_space(on, p.position).view(), to_space(on, p.mass).view());
        std::vector<std::uint32_t> order(p.mass.size());
        copy_to_host(on, view(order), octree.order());
        for (const auto i : order) x.push_back(p.position[i]), v.push_back(p.velocity[i]), m.push_back(p.mass[i]);
        octree.build();
    }
    void refresh_at(double time) {
        auto there = x;
        for (std::size_t i = 0; i < x.size(); ++i) there[i] += time * v[i];
        octree.place(to_space(on, there).view(), to_space(on, m).view());
        octree.refresh();
    }
    std::vector<Body> centers() {
        std::vector<Body> to(static_cast<std::size_t>(octree.centers().n));
        copy_to_host(on, view(to), View<const Body>(octree.centers()));
        return to;
    }
};

TEST_P(NodeMotionOn, CentersOfBodiesInUniformMotionAreThoseOfARefresh) {
    std::visit(
        [&]<Space S>(S on) {
            Moving<S> moving(on);
            NodeMotion<S> motion(on);
            const double first = 1. / 64, second = 1. / 32, between = 3. / 64;
            moving.refresh_at(first);
            motion.record(moving.octree.centers(), first);
            EXPECT_FALSE(motion.reaches(second)) << "one refresh gives no velocity";
            moving.refresh_at(second);
            motion.record(moving.octree.centers(), second);
            const auto stale = moving.centers();
            EXPECT_TRUE(motion.reaches(between));
            EXPECT_FALSE(motion.reaches(4. / 64));
            motion.move(moving.octree.centers(), 2.5 / 64);  // a move leaves no trace in the next one
            motion.move(moving.octree.centers(), between);
            const auto moved = moving.centers();
            moving.refresh_at(between);
            const auto exact = moving.centers();
            ASSERT_EQ(moved.size(), exact.size());
            double most = 0, unmoved = 0;
            for (std::size_t k = 0; k < exact.size(); ++k) {
                EXPECT_EQ(moved[k].m, exact[k].m);
                for (const auto axis : {&Body::x, &Body::y, &Body::z}) {
                    most = std::max(most, static_cast<double>(std::abs(moved[k].*axis - exact[k].*axis)));
                    unmoved = std::max(unmoved, static_cast<double>(std::abs(stale[k].*axis - exact[k].*axis)));
                }
            }
            // The rounding of bodies and centres within [-1, 1], twice where the difference of two is taken and once more at the end.
            EXPECT_LT(most, 8 * 0x1p-24);
            EXPECT_GT(unmoved, 1000 * 0x1p-24);
            motion.reset();
            EXPECT_FALSE(motion.reaches(between));
        },
        space_);
}

/// Light particles that fly through a sphere, 16 times as fast as its own: of 16 block steps 15 have few active particles and take moved
/// nodes. (Measured: 1.4e-5 from the positions of direct summation, as with a refresh at each step.)
TEST_P(NodeMotionOn, StepsOfFewParticlesHaveForcesAsAccurateAsOthers) {
    auto p = plummer({.count = 8000, .seed = 6});
    const index_t few = 16;
    for (index_t k = 0; k < few; ++k) {
        p.position[static_cast<std::size_t>(k)] = {-1 + 0.1 * static_cast<double>(k), 0.3, 0.02 * static_cast<double>(k)};
        p.velocity[static_cast<std::size_t>(k)] = {16, 0, 0};
        p.mass[static_cast<std::size_t>(k)] = 1e-6;
    }
    const double eps = 0.05;
    BlockSteps blocks;
    blocks.dt_max = 1. / 16;
    Simulation tree(space_, p, {.force = Tree{.softening = eps}, .step = blocks});
    Simulation direct(space_, p, {.force = Direct{.softening = eps}, .step = blocks});
    tree.step(2);
    direct.step(2);
    const auto counts = tree.step_counts();
    EXPECT_LT(counts.updates, 0.25 * 8000 * static_cast<double>(counts.block_steps));
    double most = 0;
    for (std::size_t k = 0; k < few; ++k) {
        const auto apart = tree.particles().position[k] - direct.particles().position[k];
        most = std::max(most, std::sqrt(dot(apart, apart)));
    }
    EXPECT_LT(most, 8e-6);
}

}  // namespace
}  // namespace kasane::gravity
