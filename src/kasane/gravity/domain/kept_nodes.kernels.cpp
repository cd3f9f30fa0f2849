// Velocities and motion of nodes, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/kept_nodes.hpp>

namespace kasane::gravity {
namespace {

struct Momentum {
    float x = 0, y = 0, z = 0, mass = 0;
    KS_FN void add(const Vec3<float>& v, float m) { x += m * v.x, y += m * v.y, z += m * v.z, mass += m; }
    KS_FN void add(const Momentum& other) { x += other.x, y += other.y, z += other.z, mass += other.mass; }
};

/// One level of nodes; deeper ones are computed.
struct SumMomenta {
    OctreeView tree;
    MovingBodies bodies;
    double per_length;
    index_t first;
    Momentum* sum;
    Vec3<float>* velocity;
    std::uint8_t* kicked;

    KS_FN void operator()(index_t k) const {
        const index_t i = first + k;
        const auto link = tree.link[i];
        Momentum found;
        bool holds_kicked = false;
        if (link == leaf) {
            for (std::uint32_t b = tree.test[i].begin; b < tree.test[i].begin + tree.test[i].count; ++b) {
                found.add(body_velocity(b), tree.body[b].m);
                holds_kicked |= bodies.level[b] >= bodies.deep;
            }
        } else {
            for (std::uint32_t c = first_child(link); c < first_child(link) + child_count(link); ++c) {
                found.add(sum[c]);
                holds_kicked |= kicked[c] != 0;
            }
        }
        sum[i] = found;
        kicked[i] = holds_kicked;
        const float per_mass = found.mass > 0 ? 1 / found.mass : 0.f;
        velocity[i] = {per_mass * found.x, per_mass * found.y, per_mass * found.z};
    }
    KS_FN Vec3<float> body_velocity(std::uint32_t b) const {
        const auto v = bodies.velocity_of(b);
        return {static_cast<float>(per_length * v.x), static_cast<float>(per_length * v.y), static_cast<float>(per_length * v.z)};
    }
};

struct MoveNode {
    const Body* then;
    const Vec3<float>* velocity;
    float elapsed;
    Body* now;
    KS_FN void operator()(index_t i) const {
        const Body c = then[i];
        const auto v = velocity[i];
        now[i] = {c.x + elapsed * v.x, c.y + elapsed * v.y, c.z + elapsed * v.z, c.m};
    }
};

struct CopyCenter {
    const Body* from;
    Body* to;
    KS_FN void operator()(index_t i) const { to[i] = from[i]; }
};

template <class T, Space S>
void hold_elements(Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() < n) buffer.reserve_discarding(n + n / 8);
}

}  // namespace

template <Space S>
void KeptNodes<S>::begin(Octree<S>& octree, const MovingBodies& bodies) {
    const auto tree = octree.view();
    const auto& levels = octree.levels();
    hold_elements(center_, tree.nodes);
    hold_elements(sum_, 4 * tree.nodes);
    hold_elements(velocity_, tree.nodes);
    hold_elements(kicked_, tree.nodes);
    for (std::size_t level = levels.size() - 1; level-- > 0;)
        parallel_for(on_, levels[level + 1] - levels[level],
                     SumMomenta{tree, bodies, 1 / tree.frame.length, levels[level], reinterpret_cast<Momentum*>(sum_.data()),
                                velocity_.data(), kicked_.data()});
    parallel_for(on_, tree.nodes, CopyCenter{tree.center, center_.data()});
    octree.plan(View<const std::uint8_t>(kicked_.data(), tree.nodes), plan_);
}

template <Space S>
void KeptNodes<S>::move(Octree<S>& octree, double elapsed) const {
    const auto centers = octree.centers();
    parallel_for(on_, centers.n, MoveNode{center_.data(), velocity_.data(), static_cast<float>(elapsed), centers.ptr});
    octree.refresh(plan_);
}

template class KeptNodes<KS_SPACE>;

}  // namespace kasane::gravity
