#include <kasane/gravity/domain/essential_motion.hpp>

namespace kasane::gravity {
namespace {

index_t node_bytes(const EssentialSize& size) { return static_cast<index_t>(size.nodes * sizeof(Vec3<float>)); }
index_t body_bytes(const EssentialSize& size) { return static_cast<index_t>(size.bodies * sizeof(BodyMotion)); }

}  // namespace

index_t essential_motion_bytes(const EssentialSize& size, index_t listed) {
    return node_bytes(size) + body_bytes(size) + listed * static_cast<index_t>(sizeof(std::uint32_t));
}

PartMotion essential_motion(const std::byte* message, const EssentialSize& size) {
    return {reinterpret_cast<const Vec3<float>*>(message), reinterpret_cast<const BodyMotion*>(message + node_bytes(size))};
}

View<const std::uint32_t> essential_listed(const std::byte* message, const EssentialSize& size, index_t listed) {
    return {reinterpret_cast<const std::uint32_t*>(message + node_bytes(size) + body_bytes(size)), listed};
}

}  // namespace kasane::gravity
