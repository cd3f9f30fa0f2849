// Motion of LETs, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/essential_motion.hpp>

namespace kasane::gravity {
namespace {

struct WriteMotion {
    OctreeView tree;
    const EssentialNode* node;
    const NodeTest* test;  ///< of the LET
    const Vec3<float>* node_velocity;
    MovingBodies bodies;
    double per_length;
    Vec3<float>* node_motion;
    BodyMotion* body_motion;
    std::uint32_t* source;
    std::uint8_t* deep;

    KS_FN void operator()(index_t k) const {
        const std::uint32_t i = node[k].node(), begin = test[k].begin, count = test[k].count;
        const auto v = node_velocity[i];
        node_motion[k] = v;
        const auto kind = node[k].kind();
        if (kind == EssentialNode::inner) return;
        for (std::uint32_t b = 0; b < count; ++b) {
            if (kind == EssentialNode::closed) {
                body_motion[begin + b] = {v, {0, 0, 0}};
                source[begin + b] = 0;
                deep[begin + b] = 0;
                continue;
            }
            const std::uint32_t from = tree.test[i].begin + b;
            const auto a = bodies.acceleration[from];
            const Vec3<double> wide{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
            body_motion[begin + b] = {scaled(bodies.velocity_of(from)), scaled(wide)};
            source[begin + b] = from;
            deep[begin + b] = bodies.level[from] >= bodies.deep;
        }
    }
    KS_FN Vec3<float> scaled(const Vec3<double>& x) const {
        return {static_cast<float>(per_length * x.x), static_cast<float>(per_length * x.y), static_cast<float>(per_length * x.z)};
    }
};

struct PackListed {
    const Body* body;
    const std::uint32_t *listed, *source;
    Body* to;
    KS_FN void operator()(index_t k) const { to[k] = body[source[listed[k]]]; }
};

}  // namespace

template <Space S>
void measure_motion(S on, Workspace<S>& work, const OctreeView& tree, const EssentialPart<S>& part, const Vec3<float>* node_velocity,
                    const MovingBodies& bodies, EssentialMotion<S>& motion) {
    const auto count = static_cast<index_t>(part.size.bodies);
    motion.listed = 0;
    if (part.size.nodes == 0) return;
    if (const index_t bytes = essential_motion_bytes(part.size, count); motion.message.size() < bytes)
        motion.message.reserve_discarding(bytes + bytes / 8);
    if (motion.source.size() < count) {
        motion.source.reserve_discarding(count + count / 8);
        motion.deep.reserve_discarding(count + count / 8);
    }
    const auto let = essential_view(part.message.data(), part.size, {tree.quadrupole != nullptr, tree.node_term != nullptr}, tree.frame);
    auto* const message = motion.message.data();
    const auto written = essential_motion(message, part.size);
    parallel_for(
        on, let.nodes,
        WriteMotion{tree, part.node.data(), let.test, node_velocity, bodies, 1 / tree.frame.length, const_cast<Vec3<float>*>(written.node),
                    const_cast<BodyMotion*>(written.body), motion.source.data(), motion.deep.data()});
    const auto listed = essential_listed(message, part.size, count);
    Buffer<std::uint32_t, S> number(on, 1);
    select_flagged(on, work, View<const std::uint8_t>(motion.deep.data(), count),
                   View<std::uint32_t>(const_cast<std::uint32_t*>(listed.ptr), count), number.view());
    motion.listed = to_host(number).front();
}

template <Space S>
void pack_listed(S on, const OctreeView& tree, const EssentialPart<S>& part, const EssentialMotion<S>& motion, View<Body> to) {
    const auto listed = essential_listed(motion.message.data(), part.size, motion.listed);
    parallel_for(on, motion.listed, PackListed{tree.body, listed.ptr, motion.source.data(), to.ptr});
}

template void measure_motion(KS_SPACE, Workspace<KS_SPACE>&, const OctreeView&, const EssentialPart<KS_SPACE>&, const Vec3<float>*,
                             const MovingBodies&, EssentialMotion<KS_SPACE>&);
template void pack_listed(KS_SPACE, const OctreeView&, const EssentialPart<KS_SPACE>&, const EssentialMotion<KS_SPACE>&, View<Body>);

}  // namespace kasane::gravity
