// Velocities of nodes, level by level from the deepest, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/node_velocities.hpp>

namespace kasane::gravity {
namespace {

struct Momentum {
    float x = 0, y = 0, z = 0, mass = 0;
    KS_FN void add(const Vec3<float>& v, float m) { x += m * v.x, y += m * v.y, z += m * v.z, mass += m; }
    KS_FN void add(const Momentum& other) { x += other.x, y += other.y, z += other.z, mass += other.mass; }
};

/// Sums of the bodies above the deep levels and of all.
struct NodeMomentum {
    Momentum above, all;
};

struct SumMomenta {
    OctreeView tree;
    MovingBodies bodies;
    double per_length;
    index_t first;
    NodeMomentum* sum;
    Vec3<float>* velocity;

    KS_FN void operator()(index_t k) const {
        const index_t i = first + k;
        const auto link = tree.link[i];
        NodeMomentum found;
        if (link == leaf) {
            for (std::uint32_t b = tree.test[i].begin; b < tree.test[i].begin + tree.test[i].count; ++b) {
                const auto v = body_velocity(b);
                found.all.add(v, tree.body[b].m);
                if (bodies.level[b] < bodies.deep) found.above.add(v, tree.body[b].m);
            }
        } else {
            for (std::uint32_t c = first_child(link); c < first_child(link) + child_count(link); ++c) {
                found.all.add(sum[c].all);
                found.above.add(sum[c].above);
            }
        }
        sum[i] = found;
        const auto& of = found.above.mass > 0 ? found.above : found.all;
        const float per_mass = of.mass > 0 ? 1 / of.mass : 0.f;
        velocity[i] = {per_mass * of.x, per_mass * of.y, per_mass * of.z};
    }
    KS_FN Vec3<float> body_velocity(std::uint32_t b) const {
        const auto v = bodies.velocity_of(b);
        return {static_cast<float>(per_length * v.x), static_cast<float>(per_length * v.y), static_cast<float>(per_length * v.z)};
    }
};

}  // namespace

template <Space S>
void NodeVelocities<S>::measure(const OctreeView& tree, const std::vector<std::uint32_t>& levels, const MovingBodies& bodies) {
    constexpr index_t floats = sizeof(NodeMomentum) / sizeof(float);
    if (velocity_.size() < tree.nodes) {
        velocity_.reserve_discarding(tree.nodes + tree.nodes / 8);
        sum_.reserve_discarding(floats * velocity_.size());
    }
    for (std::size_t level = levels.size() - 1; level-- > 0;)
        parallel_for(
            on_, levels[level + 1] - levels[level],
            SumMomenta{tree, bodies, 1 / tree.frame.length, levels[level], reinterpret_cast<NodeMomentum*>(sum_.data()), velocity_.data()});
}

template class NodeVelocities<KS_SPACE>;

}  // namespace kasane::gravity
