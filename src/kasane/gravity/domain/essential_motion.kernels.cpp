// Motion of LETs, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/essential_motion.hpp>

namespace kasane::gravity {
namespace {

struct WriteMotion {
    OctreeView tree;
    const EssentialNode* node;
    const NodeTest* test;  ///< of the LET
    MovingNodes nodes;
    MovingBodies bodies;
    double per_length;
    Vec3<float>* node_motion;
    BodyMotion* body_motion;
    std::uint32_t* source;
    std::uint8_t *body_flag, *node_flag;

    KS_FN void operator()(index_t k) const {
        const std::uint32_t i = node[k].node(), begin = test[k].begin, count = test[k].count;
        node_motion[k] = nodes.velocity[i];
        node_flag[k] = nodes.kicked[i];
        if (node[k].kind() != EssentialNode::bodies) return;
        for (std::uint32_t b = 0; b < count; ++b) {
            const std::uint32_t from = tree.test[i].begin + b;
            const auto a = bodies.acceleration[from];
            const Vec3<double> wide{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
            body_motion[begin + b] = {scaled(bodies.velocity_of(from)), scaled(wide)};
            source[begin + b] = from;
            body_flag[begin + b] = bodies.level[from] >= bodies.deep;
        }
    }
    KS_FN Vec3<float> scaled(const Vec3<double>& x) const {
        return {static_cast<float>(per_length * x.x), static_cast<float>(per_length * x.y), static_cast<float>(per_length * x.z)};
    }
};

/// Adds the kinds of listed nodes to their numbers, in place.
struct AddKinds {
    const EssentialNode* node;
    std::uint32_t* listed;
    KS_FN void operator()(index_t k) const { listed[k] = EssentialNode::make(listed[k], node[listed[k]].kind()).word; }
};

struct PackBodies {
    const Body* body;
    const std::uint32_t *listed, *source;
    Body* to;
    KS_FN void operator()(index_t k) const { to[k] = body[source[listed[k]]]; }
};

struct PackValues {
    OctreeView tree;
    const EssentialNode *node, *listed;
    NodeValues* to;
    KS_FN void operator()(index_t k) const { to[k] = node_values(tree, node[listed[k].node()].node()); }
};

template <class T, Space S>
void hold_motion(Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() < n) buffer.reserve_discarding(n + n / 8);
}

}  // namespace

template <Space S>
void measure_motion(S on, Workspace<S>& work, const OctreeView& tree, const EssentialPart<S>& part, const MovingNodes& nodes,
                    const MovingBodies& bodies, EssentialMotion<S>& motion) {
    motion.listed = {};
    if (part.size.nodes == 0) return;
    const EssentialListed all{static_cast<index_t>(part.size.bodies), static_cast<index_t>(part.size.nodes)};
    hold_motion(motion.message, essential_motion_bytes(part.size, all));
    hold_motion(motion.source, all.bodies);
    hold_motion(motion.flag, all.bodies + all.nodes);
    const auto let = essential_view(part.message.data(), part.size, {tree.quadrupole != nullptr, tree.node_term != nullptr}, tree.frame);
    auto* const message = motion.message.data();
    const auto written = essential_motion(message, part.size);
    const auto body_flag = motion.flag.view().subview(0, all.bodies), node_flag = motion.flag.view().subview(all.bodies, all.nodes);
    parallel_for(on, let.nodes,
                 WriteMotion{tree, part.node.data(), let.test, nodes, bodies, 1 / tree.frame.length, const_cast<Vec3<float>*>(written.node),
                             const_cast<BodyMotion*>(written.body), motion.source.data(), body_flag.ptr, node_flag.ptr});
    const auto select = [&](View<const std::uint8_t> flag, const void* to) {
        auto* const list = static_cast<std::uint32_t*>(const_cast<void*>(to));
        select_flagged(on, work, flag, View<std::uint32_t>(list, flag.n), motion.count.view());
        return static_cast<index_t>(to_host(motion.count).front());
    };
    motion.listed.bodies = select(View<const std::uint8_t>(body_flag), listed_bodies(message, part.size, all).ptr);
    const auto* const listed = listed_nodes(message, part.size, motion.listed).ptr;
    motion.listed.nodes = select(View<const std::uint8_t>(node_flag), listed);
    parallel_for(on, motion.listed.nodes, AddKinds{part.node.data(), reinterpret_cast<std::uint32_t*>(const_cast<EssentialNode*>(listed))});
}

template <Space S>
void pack_update(S on, const OctreeView& tree, const EssentialPart<S>& part, EssentialMotion<S>& motion) {
    const auto& listed = motion.listed;
    hold_motion(motion.update, update_bytes(listed));
    const auto* const message = motion.message.data();
    auto* const bodies = const_cast<Body*>(updated_bodies(motion.update.data(), listed).ptr);
    auto* const nodes = const_cast<NodeValues*>(updated_nodes(motion.update.data(), listed).ptr);
    parallel_for(on, listed.bodies, PackBodies{tree.body, listed_bodies(message, part.size, listed).ptr, motion.source.data(), bodies});
    parallel_for(on, listed.nodes, PackValues{tree, part.node.data(), listed_nodes(message, part.size, listed).ptr, nodes});
}

template void measure_motion(KS_SPACE, Workspace<KS_SPACE>&, const OctreeView&, const EssentialPart<KS_SPACE>&, const MovingNodes&,
                             const MovingBodies&, EssentialMotion<KS_SPACE>&);
template void pack_update(KS_SPACE, const OctreeView&, const EssentialPart<KS_SPACE>&, EssentialMotion<KS_SPACE>&);

}  // namespace kasane::gravity
