// Motion of the nodes and bodies of a kept LET, from what its sender knows of them: bodies move as the step predicts them, nodes with their
// velocities. Bodies on deep levels are kicked while the LET is kept: they are listed, and their positions are sent for every force.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/step/level.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// The bodies of a tree, in its order, and their steps.
struct MovingBodies {
    View<const Vec3<double>> velocity;     ///< [length / time], at each body's own time
    View<const Vec3<float>> acceleration;  ///< [length / time^2]
    View<const std::uint8_t> level;
    std::array<double, most_levels> since{};  ///< time from that of the bodies of each level to that of the LETs
    int deep = 0;                             ///< bodies of this level and of deeper ones are kicked while the LETs are kept

    /// Velocity at the time of the LETs.
    KS_FN Vec3<double> velocity_of(std::uint32_t body) const {
        const auto a = acceleration[body];
        return velocity[body] +
               since.data()[level[body]] * Vec3<double>{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
    }
};

/// The motion of an LET on the sender's side.
template <Space S>
struct EssentialMotion {
    explicit EssentialMotion(S on) : message(on, 0), source(on, 0), deep(on, 0) {}

    index_t listed = 0;               ///< number of listed bodies
    Buffer<std::byte, S> message;     ///< essential_motion_bytes(size, listed) or more
    Buffer<std::uint32_t, S> source;  ///< [size.bodies], the sender's bodies; for bodies in the place of nodes: 0
    Buffer<std::uint8_t, S> deep;     ///< [size.bodies], 1 for listed bodies
};

/// Bytes of the message of a motion.
index_t essential_motion_bytes(const EssentialSize& size, index_t listed);
/// The motion in a message. @param message  [essential_motion_bytes], aligned to 4 bytes
PartMotion essential_motion(const std::byte* message, const EssentialSize& size);
/// The numbers of the listed bodies in a message, ascending.
View<const std::uint32_t> essential_listed(const std::byte* message, const EssentialSize& size, index_t listed);

/// Computes the motion of an LET and lists its bodies on deep levels. Waits for the space.
/// @param node_velocity  [nodes of the tree], tree units of length
template <Space S>
void measure_motion(S on, Workspace<S>& work, const OctreeView& tree, const EssentialPart<S>& part, const Vec3<float>* node_velocity,
                    const MovingBodies& bodies, EssentialMotion<S>& motion);

/// The present listed bodies. @param to  [motion.listed]
template <Space S>
void pack_listed(S on, const OctreeView& tree, const EssentialPart<S>& part, const EssentialMotion<S>& motion, View<Body> to);

}  // namespace kasane::gravity
