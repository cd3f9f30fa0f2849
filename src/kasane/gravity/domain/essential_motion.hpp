// Motion of the nodes and bodies of a kept LET, which its sender computes: bodies move as the step predicts them, nodes with their
// velocities. Bodies on deep levels are kicked while the LET is kept: they and the nodes that hold them are listed, and sent for every
// force.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// Numbers of the bodies and nodes of an LET that are sent for every force.
struct EssentialListed {
    index_t bodies = 0, nodes = 0;
};

/// The motion of an LET on the sender's side.
template <Space S>
struct EssentialMotion {
    explicit EssentialMotion(S on) : message(on, 0), source(on, 0), flag(on, 0), count(on, 1), update(on, 0) {}

    EssentialListed listed;
    Buffer<std::byte, S> message;     ///< essential_motion_bytes() or more
    Buffer<std::uint32_t, S> source;  ///< [size.bodies], numbers of the sender's bodies
    Buffer<std::uint8_t, S> flag;     ///< [size.bodies + size.nodes], 1 for listed bodies and nodes
    Buffer<std::uint32_t, S> count;   ///< [1]
    Buffer<std::byte, S> update;      ///< update_bytes() or more
};

/// Bytes of the message of a motion.
index_t essential_motion_bytes(const EssentialSize& size, const EssentialListed& listed);
/// The motion in a message. @param message  [essential_motion_bytes], aligned to 4 bytes
PartMotion essential_motion(const std::byte* message, const EssentialSize& size);
/// The listed bodies and nodes in a message: ascending numbers in the LET; a node also has its kind.
View<const std::uint32_t> listed_bodies(const std::byte* message, const EssentialSize& size, const EssentialListed& listed);
View<const EssentialNode> listed_nodes(const std::byte* message, const EssentialSize& size, const EssentialListed& listed);

/// Bytes of the message with the present values of listed bodies and nodes.
index_t update_bytes(const EssentialListed& listed);
/// The values in a message. @param message  [update_bytes], aligned to 16 bytes
View<const Body> updated_bodies(const std::byte* message, const EssentialListed& listed);
View<const NodeValues> updated_nodes(const std::byte* message, const EssentialListed& listed);

/// Computes the motion of an LET and lists its bodies on deep levels and the nodes that hold them. Waits for the space.
template <Space S>
void measure_motion(S on, Workspace<S>& work, const OctreeView& tree, const EssentialPart<S>& part, const MovingNodes& nodes,
                    const MovingBodies& bodies, EssentialMotion<S>& motion);

/// Packs the present values of listed bodies and nodes (motion.update). @param tree  with the present bodies and nodes
template <Space S>
void pack_update(S on, const OctreeView& tree, const EssentialPart<S>& part, EssentialMotion<S>& motion);

}  // namespace kasane::gravity
