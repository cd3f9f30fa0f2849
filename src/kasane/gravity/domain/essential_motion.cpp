#include <kasane/gravity/domain/essential_motion.hpp>

namespace kasane::gravity {
namespace {

template <class T>
constexpr auto bytes_of = static_cast<index_t>(sizeof(T));

index_t node_bytes(const EssentialSize& size) { return static_cast<index_t>(size.nodes) * bytes_of<Vec3<float>>; }
index_t body_bytes(const EssentialSize& size) { return static_cast<index_t>(size.bodies) * bytes_of<BodyMotion>; }

}  // namespace

index_t essential_motion_bytes(const EssentialSize& size, const EssentialListed& listed) {
    return node_bytes(size) + body_bytes(size) + listed.bodies * bytes_of<std::uint32_t> + listed.nodes * bytes_of<EssentialNode>;
}

PartMotion essential_motion(const std::byte* message, const EssentialSize& size) {
    return {reinterpret_cast<const Vec3<float>*>(message), reinterpret_cast<const BodyMotion*>(message + node_bytes(size))};
}

View<const std::uint32_t> listed_bodies(const std::byte* message, const EssentialSize& size, const EssentialListed& listed) {
    return {reinterpret_cast<const std::uint32_t*>(message + node_bytes(size) + body_bytes(size)), listed.bodies};
}

View<const EssentialNode> listed_nodes(const std::byte* message, const EssentialSize& size, const EssentialListed& listed) {
    const auto* const behind = message + node_bytes(size) + body_bytes(size) + listed.bodies * bytes_of<std::uint32_t>;
    return {reinterpret_cast<const EssentialNode*>(behind), listed.nodes};
}

index_t update_bytes(const EssentialListed& listed) { return listed.bodies * bytes_of<Body> + listed.nodes * bytes_of<NodeValues>; }

View<const Body> updated_bodies(const std::byte* message, const EssentialListed& listed) {
    return {reinterpret_cast<const Body*>(message), listed.bodies};
}

View<const NodeValues> updated_nodes(const std::byte* message, const EssentialListed& listed) {
    return {reinterpret_cast<const NodeValues*>(message + listed.bodies * bytes_of<Body>), listed.nodes};
}

}  // namespace kasane::gravity
