// Kept LETs: while particles move, forces against direct sums have the errors of LETs that are made anew.
#include <gravity/domain/domain_cases.hpp>
#include <gravity/space_test.hpp>
#include <gravity/tree/moving_sphere.hpp>

#include <atomic>

namespace kasane::test {
namespace {

/// One worker's share of a moving sphere.
template <Space S>
struct MovingShare {
    S on;
    const MovingSphere& sphere;
    DomainForce<S>& force;
    std::vector<std::uint32_t> given;
    Buffer<double, S> mass;
    Buffer<float, S> size;
    std::vector<Body> kept;  ///< bodies at the time of keep()

    MovingShare(S space, const MovingSphere& of, System<S, Vec3<float>>& system, DomainForce<S>& by)
        : on(space), sphere(of), force(by), given(to_host(system.given)), mass(to_space(on, to_host(system.mass))) {
        Buffer<Vec3<float>, S> a(on, static_cast<index_t>(given.size()));
        force.accelerate_first({a.view(), {}});
        std::vector<float> sizes;
        for (const auto& found : to_host(a)) sizes.push_back(std::sqrt(dot(found, found)));
        size = to_space(on, sizes);
        std::vector<Vec3<double>> v;
        std::vector<Vec3<float>> bend;
        std::vector<std::uint8_t> level;
        for (const auto i : given) {
            v.push_back(sphere.velocity[i]);
            const auto& b = sphere.bend[i];
            bend.push_back({static_cast<float>(b.x), static_cast<float>(b.y), static_cast<float>(b.z)});
            level.push_back(sphere.deep[i]);
        }
        copy_from_host(on, system.velocity.view(), view(v));
        copy_from_host(on, system.acceleration.view(), view(bend));
        copy_from_host(on, system.level.view(), view(level));
    }
    /// Puts the bodies where they are at this time.
    void place(double time, bool jumps) {
        std::vector<Vec3<double>> x;
        for (const auto i : given) x.push_back(sphere.at(i, time, jumps));
        force.octree().place(to_space(on, x).view(), mass.view());
        synchronize(on);
    }
    std::vector<Body> present() {
        std::vector<Body> to(given.size());
        copy_to_host(on, view(to), View<const Body>(force.octree().bodies()));
        return to;
    }
    void predict(double time) {
        place(time, false);
        const auto there = present();
        if (const auto later = force.later(); !later.empty()) copy_from_host(on, later, view(there));  // one worker needs none
    }
    void keep(double time) {
        place(time, false);
        force.octree().refresh();
        force.keep(time, {{}, true, size.view()});
        kept = present();
    }
    /// Moves nodes and LETs, and writes the bodies on deep levels. @param since  time of keep()
    void move(double time, bool jumps, double since, System<S, Vec3<float>>& system) {
        ASSERT_TRUE(force.keeps());
        MovingBodies bodies{system.velocity.view(), system.acceleration.view(), system.level.view(), {}, 1};
        bodies.since.fill(since);  // the velocities are those of the time 0
        force.begin_motion(bodies);
        place(time, jumps);
        auto there = present();
        for (std::size_t k = 0; k < given.size(); ++k)
            if (!sphere.deep[given[k]]) there[k] = kept[k];
        copy_from_host(on, force.octree().bodies(), View<const Body>(view(there)));
        force.move(time);
    }
    /// Evaluates all particles (or those on deep levels). @param kept  with kept LETs  @return the boxes were outgrown
    bool evaluate(bool kept, bool deep, DomainField& field) {
        std::vector<std::uint32_t> list;
        for (std::size_t k = 0; k < given.size(); ++k)
            if (!deep || sphere.deep[given[k]]) list.push_back(static_cast<std::uint32_t>(k));
        const auto index = to_space(on, list);
        Buffer<Vec3<float>, S> a(on, static_cast<index_t>(given.size()));
        Buffer<float, S> phi(on, a.size());
        bool outgrown = false;
        if (kept)
            outgrown = force.accelerate_kept({index.view(), false, size.view()}, {a.view(), phi.view()});
        else
            force.accelerate({index.view(), false, size.view()}, {a.view(), phi.view()});
        const auto found = to_host(a);
        const auto potential = to_host(phi);
        for (const auto k : list) {
            field.acceleration[given[k]] = {found[k].x, found[k].y, found[k].z};
            field.potential[given[k]] = static_cast<double>(potential[k]);
        }
        return outgrown;
    }
};

DomainField empty_field(const MovingSphere& of) {
    DomainField field;
    field.acceleration.resize(of.velocity.size());
    field.potential.resize(of.velocity.size());
    return field;
}

class KeptTreesOn : public OnEverySpace {
   protected:
    /// Calls body(share) on each of these workers.
    template <class F>
    void on_shares(int workers, const MovingSphere& sphere, F body, int group = 0) {
        std::visit(
            [&]<Space S>(S on) {
                const DomainRequest request{.tree = {.softening = sphere.problem.softening}, .group = group};
                on_domains(on, workers, sphere.problem, request, [&](comm::Worker&, auto& system, auto& force) {
                    MovingShare<S> share(on, sphere, system, force);
                    body(share, system);
                });
            },
            space_);
    }
};
KS_ON_EVERY_SPACE(KeptTreesOn);

TEST_P(KeptTreesOn, HaveTheErrorsOfNewOnesWhileParticlesMove) {
    const MovingSphere sphere(16384);
    for (const int workers : {2, 3, 7}) {
        constexpr int times = 4;
        std::vector<DomainField> kept(times, empty_field(sphere)), made(times, empty_field(sphere));
        std::atomic<bool> outgrown{false};
        on_shares(workers, sphere, [&](auto& share, auto& system) {
            share.predict(life);
            share.keep(0);
            for (int k = 0; k < times; ++k) {
                share.move(life * (k + 1) / times, false, 0, system);
                if (share.evaluate(true, false, kept[static_cast<std::size_t>(k)])) outgrown = true;
            }
            for (int k = 0; k < times; ++k) {
                share.place(life * (k + 1) / times, false);
                share.force.octree().refresh();
                share.evaluate(false, false, made[static_cast<std::size_t>(k)]);
            }
        });
        EXPECT_FALSE(outgrown) << "the positions are the predicted ones";
        for (std::size_t k = 0; k < times; ++k) {
            SCOPED_TRACE(testing::Message() << workers << " workers, time " << k + 1 << " of " << times);
            const auto at = sampled_fast(sphere.frozen(life * static_cast<double>(k + 1) / times, false), 1, 2048);
            const auto a = errors(kept[k], at), b = errors(made[k], at);
            // Second moments and sizes of nodes are those of the beginning. Seen: 1 to 4% in the median, up to 10% in the percentile.
            EXPECT_LE(a.median, 1.07 * b.median);
            EXPECT_LE(a.p99, 1.15 * b.p99);
        }
    }
}

/// Some particles are where no prediction has them: their nodes are computed anew.
TEST_P(KeptTreesOn, HaveThePresentKickedBodiesInTheirNodes) {
    const MovingSphere sphere(16384);
    const double keep = 0.25 * life, time = 0.35 * life;
    const auto there = sphere.frozen(time, true);
    Sampled at;
    for (std::size_t i = 0; i < sphere.deep.size(); ++i) {
        if (!sphere.deep[i]) continue;
        at.index.push_back(i);
        at.exact.push_back(reference::direct(there.position[i], there.position, there.mass, static_cast<index_t>(i), there.softening, 1));
    }
    ErrorPercentiles one;  // relative to the errors after a refresh
    for (const int workers : {1, 2, 3, 7}) {
        SCOPED_TRACE(testing::Message() << workers << " workers");
        auto moved = empty_field(sphere), made = empty_field(sphere);
        on_shares(workers, sphere, [&](auto& share, auto& system) {
            share.predict(life);
            share.place(0.1 * life, false);
            share.force.octree().refresh();
            EXPECT_FALSE(share.force.keeps());
            share.keep(keep);
            for (const double then : {0.3 * life, time}) share.move(then, true, keep, system);  // a move leaves no trace in the next one
            share.evaluate(true, true, moved);
            share.place(time, true);  // move() left the particles that are not kicked where keep() found them
            share.force.octree().refresh();
            share.evaluate(false, true, made);
        });
        const auto found = errors(moved, at), fresh = errors(made, at);
        const ErrorPercentiles growth{found.median / fresh.median, found.p99 / fresh.p99, found.potential / fresh.potential, 1};
        if (workers == 1) one = growth;
        EXPECT_LE(growth.median, 1.1 * one.median) << "of 256 particles";
        EXPECT_LE(growth.p99, 1.1 * one.p99);
        EXPECT_LE(growth.potential, 1.1 * one.potential);
        EXPECT_LE(growth.median, 1.1);
        EXPECT_LE(growth.p99, 1.1);
        EXPECT_LE(growth.potential, 1.1) << "1.5 to 2 with nodes that only move";
    }
}

/// Nodes of a cluster that is cut by domain boundaries do not follow the velocities that their bodies had. Small groups, which accept nodes
/// at smaller distances, depend on that most: GPUs make them for few targets.
TEST_P(KeptTreesOn, FollowAFastCluster) {
    constexpr std::size_t few = 64;
    const auto sphere = with_fast_cluster(8000, few);
    for (const int group : {1, 16})
        for (const int workers : {1, 2, 3, 4, 8}) {
            SCOPED_TRACE(testing::Message() << workers << " workers, groups of " << group);
            constexpr int times = 4;
            std::vector<DomainField> kept(times, empty_field(sphere)), made(times, empty_field(sphere));
            const auto time = [](std::size_t k) { return life * static_cast<double>(k + 1) / times; };
            on_shares(
                workers, sphere,
                [&](auto& share, auto& system) {
                    share.predict(life);
                    share.keep(0);
                    for (std::size_t k = 0; k < times; ++k) {
                        share.move(time(k), false, 0, system);
                        share.evaluate(true, true, kept[k]);
                    }
                    for (std::size_t k = 0; k < times; ++k) {
                        share.place(time(k), false);
                        share.force.octree().refresh();
                        share.evaluate(false, true, made[k]);
                    }
                },
                group);
            double most_kept = 0, most_made = 0, sum_kept = 0, sum_made = 0;
            for (std::size_t k = 0; k < times; ++k) {
                const auto there = sphere.frozen(time(k), false);
                for (std::size_t i = 0; i < few; ++i) {
                    const auto exact =
                        reference::direct(there.position[i], there.position, there.mass, static_cast<index_t>(i), there.softening, 1)
                            .acceleration;
                    const auto off = [&](const DomainField& field) {
                        const auto d = field.acceleration[i] - exact;
                        return std::sqrt(dot(d, d) / dot(exact, exact));
                    };
                    most_kept = std::max(most_kept, off(kept[k])), most_made = std::max(most_made, off(made[k]));
                    sum_kept += off(kept[k]), sum_made += off(made[k]);
                }
            }
            EXPECT_LE(most_kept, 1.3 * most_made) << "20 times where nodes with kicked bodies move with velocities";
            EXPECT_LE(sum_kept, 1.15 * sum_made);
        }
}

TEST_P(KeptTreesOn, ReportTargetsOutsideOfTheirBoxes) {
    const MovingSphere sphere(4096);
    std::atomic<int> near{0}, far{0};
    on_shares(3, sphere, [&](auto& share, auto& system) {
        auto field = empty_field(sphere);
        share.predict(life);
        share.keep(0);
        share.move(0.5 * life, false, 0, system);
        near += share.evaluate(true, false, field);
        share.move(32 * life, false, 0, system);
        far += share.evaluate(true, false, field);
    });
    EXPECT_EQ(near, 0);
    EXPECT_EQ(far, 3);
}

}  // namespace
}  // namespace kasane::test
