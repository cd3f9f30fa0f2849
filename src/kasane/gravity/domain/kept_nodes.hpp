// The nodes of a worker's tree while LETs are kept. Bodies on deep levels are kicked meanwhile, so that no velocity describes their motion:
// nodes that hold one are computed anew for every force, and all other nodes move with the mean velocity of their bodies.
// (Where nodes with kicked bodies moved with a velocity, too, forces of small groups in a fast cluster were wrong: docs/tree-on-ranks.md.)
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/domain/essential_motion.hpp>

#include <vector>

namespace kasane::gravity {

template <Space S>
class KeptNodes {
   public:
    explicit KeptNodes(S on) : on_(on), center_(on, 0), sum_(on, 0), velocity_(on, 0), kicked_(on, 0) {}

    /// Takes the nodes of the last refresh() and computes their velocities. Waits for the space. @param bodies  at the time of that
    /// refresh()
    void begin(Octree<S>& octree, const MovingBodies& bodies);
    /// Moves the nodes without kicked bodies, and computes the others from the present bodies. @param elapsed  time since that of begin()
    void move(Octree<S>& octree, double elapsed) const;

    /// [nodes] in tree units of length per time; not used for nodes with kicked bodies
    const Vec3<float>* velocity() const { return velocity_.data(); }
    /// [nodes] 1 for nodes with kicked bodies
    const std::uint8_t* kicked() const { return kicked_.data(); }
    /// The nodes with kicked bodies, ascending.
    View<const std::uint32_t> list() const { return plan_.inner.view().subview(0, static_cast<index_t>(plan_.levels.back())); }

   private:
    S on_;
    Buffer<Body, S> center_;  ///< [nodes], of the last refresh()
    Buffer<float, S> sum_;    ///< [4 nodes], momentum and mass
    Buffer<Vec3<float>, S> velocity_;
    Buffer<std::uint8_t, S> kicked_;
    RefreshPlan<S> plan_;
};

}  // namespace kasane::gravity
