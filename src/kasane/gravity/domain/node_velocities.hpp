// Velocities of the nodes of a tree, the mean velocities of their bodies, with which they move while LETs are kept.
// Bodies on deep levels are kicked in between, so that their velocities foretell nothing: nodes that have others move with these alone.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/domain/essential_motion.hpp>

#include <vector>

namespace kasane::gravity {

template <Space S>
class NodeVelocities {
   public:
    explicit NodeVelocities(S on) : on_(on), sum_(on, 0), velocity_(on, 0) {}

    /// Computes the velocities of all nodes. @param levels  Octree::levels()
    void measure(const OctreeView& tree, const std::vector<std::uint32_t>& levels, const MovingBodies& bodies);
    /// [nodes] tree units of length
    const Vec3<float>* velocity() const { return velocity_.data(); }

   private:
    S on_;
    Buffer<float, S> sum_;  ///< [8 nodes], momentum and mass of the bodies above the deep levels, then of all
    Buffer<Vec3<float>, S> velocity_;
};

}  // namespace kasane::gravity
