// Kept nodes: against the moments of bodies that have moved, and in steps with few active particles against direct sums.
#include <gravity/space_test.hpp>
#include <gravity/tree/moving_sphere.hpp>
#include <reference/direct.hpp>

#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::test {
namespace {

using namespace gravity;

class KeptNodesOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(KeptNodesOn);

/// The tree of a moving sphere on a space, its bodies in the tree's order.
template <Space S>
struct MovingTree {
    S on;
    const MovingSphere& sphere;
    TreeForce<S> force;
    KeptNodes<S> nodes;
    std::vector<std::uint32_t> given;
    Buffer<double, S> mass;
    Buffer<Vec3<double>, S> velocity;
    Buffer<Vec3<float>, S> acceleration;
    Buffer<std::uint8_t, S> level;
    Buffer<float, S> size;
    std::vector<Body> kept;  ///< bodies at the time of keep()

    MovingTree(S space, const MovingSphere& of, int group = 0)
        : on(space),
          sphere(of),
          force(on, Tree{.softening = of.problem.softening}),
          nodes(on),
          mass(on, 0),
          velocity(on, 0),
          acceleration(on, 0),
          level(on, 0),
          size(on, 0) {
        force.walk().tuning().group = group;
        force.octree().sort(to_space(on, of.problem.position).view(), to_space(on, of.problem.mass).view());
        given.resize(of.velocity.size());
        copy_to_host(on, view(given), force.octree().order());
        force.octree().build();
        std::vector<double> m;
        std::vector<Vec3<double>> v;
        std::vector<Vec3<float>> a;
        std::vector<std::uint8_t> l;
        for (const auto i : given) {
            m.push_back(of.problem.mass[i]), v.push_back(of.velocity[i]), l.push_back(of.deep[i]);
            const auto& b = of.bend[i];
            a.push_back({static_cast<float>(b.x), static_cast<float>(b.y), static_cast<float>(b.z)});
        }
        mass = to_space(on, m), velocity = to_space(on, v), acceleration = to_space(on, a), level = to_space(on, l);
        refresh(0, false);
        Buffer<Vec3<float>, S> first(on, static_cast<index_t>(given.size()));
        force.accelerate_first({first.view(), {}});
        std::vector<float> sizes;
        for (const auto& found : to_host(first)) sizes.push_back(std::sqrt(dot(found, found)));
        size = to_space(on, sizes);
    }
    /// Puts the bodies where they are at this time.
    void place(double time, bool jumps) {
        std::vector<Vec3<double>> x;
        for (const auto i : given) x.push_back(sphere.at(i, time, jumps));
        force.octree().place(to_space(on, x).view(), mass.view());
        synchronize(on);
    }
    void refresh(double time, bool jumps) {
        place(time, jumps);
        force.octree().refresh();
    }
    /// Keeps the nodes of this time; the velocities of the bodies are those of the time 0.
    void keep(double time) {
        refresh(time, false);
        MovingBodies bodies{velocity.view(), acceleration.view(), level.view(), {}, 1};
        bodies.since.fill(time);
        nodes.begin(force.octree(), bodies);
        kept = present();
    }
    std::vector<Body> present() {
        std::vector<Body> to(given.size());
        copy_to_host(on, view(to), View<const Body>(force.octree().bodies()));
        return to;
    }
    /// Writes the bodies on deep levels alone. @param since  time of keep()
    void move(double time, bool jumps, double since) {
        place(time, jumps);
        auto bodies = present();
        for (std::size_t k = 0; k < given.size(); ++k)
            if (!sphere.deep[given[k]]) bodies[k] = kept[k];
        copy_from_host(on, force.octree().bodies(), View<const Body>(view(bodies)));
        nodes.move(force.octree(), time - since);
    }
    std::vector<Body> centers() {
        std::vector<Body> to(static_cast<std::size_t>(force.octree().centers().n));
        copy_to_host(on, view(to), View<const Body>(force.octree().centers()));
        return to;
    }
    /// Accelerations of the particles on deep levels, in the order of the sphere; (0, 0, 0) for the others.
    std::vector<Vec3<double>> deep_accelerations() {
        std::vector<std::uint32_t> list;
        for (std::size_t k = 0; k < given.size(); ++k)
            if (sphere.deep[given[k]]) list.push_back(static_cast<std::uint32_t>(k));
        const auto index = to_space(on, list);
        Buffer<Vec3<float>, S> a(on, static_cast<index_t>(given.size()));
        force.accelerate({index.view(), false, size.view()}, {a.view(), {}});
        const auto found = to_host(a);
        std::vector<Vec3<double>> to(given.size());
        for (const auto k : list) to[given[k]] = {found[k].x, found[k].y, found[k].z};
        return to;
    }
};

TEST_P(KeptNodesOn, CentersOfBodiesInUniformMotionAreThoseOfARefresh) {
    std::visit(
        [&]<Space S>(S on) {
            MovingSphere sphere(4096);
            for (auto& bend : sphere.bend) bend = {0, 0, 0};
            MovingTree<S> moving(on, sphere);
            const double second = 1. / 32, between = 3. / 64;
            moving.keep(second);
            const auto stale = moving.centers();
            moving.move(2.5 / 64, true, second);  // a move leaves no trace in the next one
            moving.move(between, true, second);
            const auto moved = moving.centers();
            moving.refresh(between, true);
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
            // The rounding of bodies and centres within [-1, 1], and that of velocities times 1/64.
            EXPECT_LT(most, 8 * 0x1p-24);
            EXPECT_GT(unmoved, 1000 * 0x1p-24);
        },
        space_);
}

/// Massive particles on fast circles, alone on deep levels: nodes that hold them do not follow a velocity. Small groups, which accept nodes
/// at smaller distances, depend on that most: GPUs make them for few targets.
TEST_P(KeptNodesOn, FollowAFastCluster) {
    constexpr std::size_t few = 64, times = 4;
    const auto sphere = with_fast_cluster(8000, few);
    for (const int group : {1, 16}) {
        SCOPED_TRACE(testing::Message() << "groups of " << group);
        std::vector<std::vector<Vec3<double>>> kept, made;
        const auto time = [](std::size_t k) { return life * static_cast<double>(k + 1) / times; };
        std::visit(
            [&]<Space S>(S on) {
                MovingTree<S> moving(on, sphere, group);
                moving.keep(0);
                for (std::size_t k = 0; k < times; ++k) {
                    moving.move(time(k), false, 0);
                    kept.push_back(moving.deep_accelerations());
                }
                for (std::size_t k = 0; k < times; ++k) {
                    moving.refresh(time(k), false);
                    made.push_back(moving.deep_accelerations());
                }
            },
            space_);
        double most_kept = 0, most_made = 0, sum_kept = 0, sum_made = 0;
        for (std::size_t k = 0; k < times; ++k) {
            const auto there = sphere.frozen(time(k), false);
            for (std::size_t i = 0; i < few; ++i) {
                const auto exact =
                    reference::direct(there.position[i], there.position, there.mass, static_cast<index_t>(i), there.softening, 1)
                        .acceleration;
                const auto off = [&](const Vec3<double>& a) { return std::sqrt(dot(a - exact, a - exact) / dot(exact, exact)); };
                most_kept = std::max(most_kept, off(kept[k][i])), most_made = std::max(most_made, off(made[k][i]));
                sum_kept += off(kept[k][i]), sum_made += off(made[k][i]);
            }
        }
        EXPECT_LE(most_kept, 1.3 * most_made) << "10 times where nodes with kicked bodies move with velocities";
        EXPECT_LE(sum_kept, 1.15 * sum_made);
    }
}

/// Light particles that fly through a sphere, 16 and 7 times as fast as its own: of 16 block steps 15 have few active particles and take
/// moved nodes, and in some of them half of the kicked particles are active. (Measured: 1.4e-5 from the positions of direct summation, as
/// with a refresh at each step.)
TEST_P(KeptNodesOn, StepsOfFewParticlesHaveForcesAsAccurateAsOthers) {
    auto p = plummer({.count = 8000, .seed = 6});
    const index_t few = 16;
    for (index_t k = 0; k < few; ++k) {
        p.position[static_cast<std::size_t>(k)] = {-1 + 0.1 * static_cast<double>(k), 0.3, 0.02 * static_cast<double>(k)};
        p.velocity[static_cast<std::size_t>(k)] = {k % 2 == 0 ? 16. : 7., 0, 0};
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

/// A tree of the sphere, its bodies in the tree's order.
struct SphereTree {
    Octree<Cpu> octree{Cpu{1}, {.softening = 0.02}};
    std::vector<Vec3<double>> x, v;
    std::vector<Vec3<float>> a;
    std::vector<double> mass;
    std::vector<std::uint8_t> level;

    explicit SphereTree(const MovingSphere& sphere) {
        octree.sort(view(sphere.problem.position), view(sphere.problem.mass));
        for (index_t k = 0; k < octree.order().n; ++k) {
            const auto i = octree.order()[k];
            x.push_back(sphere.problem.position[i]), v.push_back(sphere.velocity[i]);
            a.push_back({0.5f, static_cast<float>(i % 3), -1});
            mass.push_back(sphere.problem.mass[i]);
            level.push_back(i % 512 == 5 ? 2 : i % 64 == 5 ? 1 : 0);
        }
        octree.place(view(x), view(mass));
        octree.build();
        octree.refresh();
    }
    bool holds(index_t node, int deep) const {
        const auto of = octree.view().test[node];
        return std::any_of(level.begin() + of.begin, level.begin() + of.begin + of.count, [&](int l) { return l >= deep; });
    }
};

/// From the definition.
TEST(KeptNodes, HaveTheMeanVelocitiesOfTheirBodies) {
    SphereTree of(MovingSphere(3000));
    MovingBodies bodies{view(of.v), view(of.a), view(of.level), {}, 1};
    bodies.since = {0.25, 0.125, 0.0625};
    KeptNodes<Cpu> nodes(Cpu{1});
    nodes.begin(of.octree, bodies);
    const auto tree = of.octree.view();
    for (index_t node = 0; node < tree.nodes; ++node) {
        Vec3<double> sum{0, 0, 0};
        double mass = 0;
        for (std::uint32_t b = tree.test[node].begin; b < tree.test[node].begin + tree.test[node].count; ++b) {
            const double m = tree.body[b].m;
            sum += m * (of.v[b] + bodies.since[of.level[b]] * Vec3<double>{of.a[b].x, of.a[b].y, of.a[b].z}), mass += m;
        }
        const auto mean = 1 / (mass * tree.frame.length) * sum;
        const auto found = nodes.moving().velocity[node];
        ASSERT_NEAR(found.x, mean.x, 1e-5);
        ASSERT_NEAR(found.y, mean.y, 1e-5);
        ASSERT_NEAR(found.z, mean.z, 1e-5);
    }
}

TEST(KeptNodes, AreComputedAnewWhereTheyHoldKickedBodies) {
    for (const int deep : {0, 1, 2, 3}) {
        SCOPED_TRACE(deep);
        SphereTree of(MovingSphere(3000)), fresh(MovingSphere(3000));
        MovingBodies bodies{view(of.v), view(of.a), view(of.level), {}, deep};
        KeptNodes<Cpu> nodes(Cpu{1});
        nodes.begin(of.octree, bodies);
        std::vector<std::uint32_t> kicked;
        for (index_t node = 0; node < of.octree.view().nodes; ++node)
            if (of.holds(node, deep)) kicked.push_back(static_cast<std::uint32_t>(node));
        const auto list = nodes.list();
        EXPECT_EQ(std::vector<std::uint32_t>(list.ptr, list.ptr + list.n), kicked);
        constexpr double elapsed = 1. / 64;
        for (const double jump : {0.5, 0.01}) {  // a move leaves no trace in the next one
            for (std::size_t b = 0; b < of.x.size(); ++b) {
                const Vec3<double> kick = of.level[b] >= deep ? jump * Vec3<double>{1, -1, 2} : Vec3<double>{0, 0, 0};
                fresh.x[b] = of.x[b] + elapsed * of.v[b] + kick;
            }
            fresh.octree.place(view(fresh.x), view(fresh.mass));
            const auto bodies_kicked = nodes.kicked_bodies();
            for (index_t k = 0; k < bodies_kicked.n; ++k) of.octree.bodies()[bodies_kicked[k]] = fresh.octree.bodies()[bodies_kicked[k]];
            nodes.move(of.octree, elapsed);
        }
        const auto tree = of.octree.view();
        std::vector<std::uint32_t> deep_bodies;
        for (index_t b = 0; b < tree.bodies; ++b)
            if (of.level[static_cast<std::size_t>(b)] >= deep) deep_bodies.push_back(static_cast<std::uint32_t>(b));
        const auto found = nodes.kicked_bodies();
        EXPECT_EQ(std::vector<std::uint32_t>(found.ptr, found.ptr + found.n), deep_bodies);
        for (index_t b = 0; b < tree.bodies; ++b) {
            auto& body = fresh.octree.bodies()[b];
            const auto moved = tree.body_at(b);
            // Rounding of a position within [-1, 1], of a velocity times 1/64, and of their sum.
            for (const auto axis : {&Body::x, &Body::y, &Body::z}) ASSERT_NEAR(moved.*axis, body.*axis, 2 * 0x1p-24);
            body = moved;  // nodes of the same bodies have the same bits
        }
        fresh.octree.refresh();
        const auto exact = fresh.octree.view();
        for (index_t node = 0; node < tree.nodes; ++node) {
            ASSERT_NEAR(tree.center[node].x, exact.center[node].x, 2e-6);
            ASSERT_NEAR(tree.center[node].y, exact.center[node].y, 2e-6);
            ASSERT_NEAR(tree.center[node].z, exact.center[node].z, 2e-6);
            ASSERT_EQ(tree.center[node].m, exact.center[node].m);
            if (tree.link[node] != leaf || !of.holds(node, deep)) continue;
            ASSERT_EQ(tree.test[node].radius2, exact.test[node].radius2);
            ASSERT_EQ(tree.test[node].weight, exact.test[node].weight);
            ASSERT_EQ(tree.quadrupole[node].xy, exact.quadrupole[node].xy);
        }
    }
}

}  // namespace
}  // namespace kasane::test
