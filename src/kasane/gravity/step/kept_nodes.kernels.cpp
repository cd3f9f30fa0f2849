// Velocities and motion of nodes, once per Space.
#include <kasane/core/device/hold_elements.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>
#include <kasane/gravity/step/motion.hpp>

namespace kasane::gravity {
namespace {

/// Velocity of a body in tree units.
KS_FN Vec3<float> tree_velocity(const MovingBodies& bodies, double per_length, index_t b) {
    const auto v = bodies.velocity_of(static_cast<std::uint32_t>(b));
    return {static_cast<float>(per_length * v.x), static_cast<float>(per_length * v.y), static_cast<float>(per_length * v.z)};
}

struct BodyVelocities {
    MovingBodies bodies;
    double per_length;
    BodyMotions to;

    KS_FN void operator()(index_t b) const {
        const bool kicked = bodies.level[b] >= bodies.deep;
        const auto v = kicked ? Vec3<float>{0, 0, 0} : tree_velocity(bodies, per_length, b);
        to.xy[b] = {v.x, v.y}, to.z[b] = v.z;
    }
};

/// Velocities of one level of nodes; those of deeper ones are known.
struct AverageVelocities {
    OctreeView tree;
    MovingBodies bodies;
    double per_length;
    index_t first;
    Vec3<float>* velocity;
    std::uint8_t* kicked;

    KS_FN void operator()(index_t k) const {
        const index_t i = first + k;
        const auto link = tree.link[i];
        Vec3<float> momentum{0, 0, 0};
        float mass = 0;
        const auto add = [&](float m, const Vec3<float>& v) {
            momentum.x += m * v.x, momentum.y += m * v.y, momentum.z += m * v.z, mass += m;
        };
        bool holds_kicked = false;
        if (link == leaf) {
            for (std::uint32_t b = tree.test[i].begin; b < tree.test[i].begin + tree.test[i].count; ++b) {
                add(tree.body[b].m, tree_velocity(bodies, per_length, b));
                holds_kicked |= bodies.level[b] >= bodies.deep;
            }
        } else {
            for (std::uint32_t c = first_child(link); c < first_child(link) + child_count(link); ++c) {
                add(tree.center[c].m, velocity[c]);
                holds_kicked |= kicked[c] != 0;
            }
        }
        kicked[i] = holds_kicked;
        const float per_mass = mass > 0 ? 1 / mass : 0.f;
        velocity[i] = {per_mass * momentum.x, per_mass * momentum.y, per_mass * momentum.z};
    }
};

struct CopyCenter {
    const Body* from;
    Body* to;
    KS_FN void operator()(index_t i) const { to[i] = from[i]; }
};

}  // namespace

template <Space S>
void KeptNodes<S>::begin(Octree<S>& octree, const MovingBodies& bodies) {
    const auto tree = octree.view();
    const auto& levels = octree.levels();
    hold_elements(center_, tree.nodes);
    hold_elements(velocity_, tree.nodes);
    hold_elements(kicked_, tree.nodes);
    body_ = octree.motions();
    // The memory of the velocities holds the flags from which the list is made.
    const View<std::uint8_t> flag(reinterpret_cast<std::uint8_t*>(body_.xy), tree.bodies);
    flag_levels(on_, bodies.level, bodies.deep, flag);
    select_flagged(on_, work_, View<const std::uint8_t>(flag), View<std::uint32_t>(body_.list, tree.bodies), count_.view());
    std::uint32_t listed = 0;
    copy_to_host(on_, View<std::uint32_t>(&listed, 1), View<const std::uint32_t>(count_.view()));
    listed_ = listed;
    parallel_for(on_, tree.bodies, BodyVelocities{bodies, 1 / tree.frame.length, body_});
    for (std::size_t level = levels.size() - 1; level-- > 0;)
        parallel_for(on_, levels[level + 1] - levels[level],
                     AverageVelocities{tree, bodies, 1 / tree.frame.length, levels[level], velocity_.data(), kicked_.data()});
    parallel_for(on_, tree.nodes, CopyCenter{tree.center, center_.data()});
    octree.plan(View<const std::uint8_t>(kicked_.data(), tree.nodes), plan_);
}

template <Space S>
void KeptNodes<S>::move(Octree<S>& octree, double elapsed) const {
    octree.set_drift({body_.xy, body_.z, static_cast<float>(elapsed)});
    octree.refresh(plan_, {center_.data(), velocity_.data(), kicked_.data(), static_cast<float>(elapsed)});
}

template class KeptNodes<KS_SPACE>;

}  // namespace kasane::gravity
