// One tree of the LETs that a worker received, so that one walk finds all particles of the other workers; or of all workers, where it is
// the second tree in the memory of the own one. While the LETs are kept, their nodes and bodies move. Invariants: the worker's own bodies
// come first, with their numbers; apart from the own tree they are copies without masses: they are the targets, and no node holds them. The
// roots of the parts are below a few nodes that no criterion accepts.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/tree/octree.hpp>
#include <kasane/gravity/tree/walk.hpp>

#include <vector>

namespace kasane::gravity {

/// The nodes above the parts' roots, and the places of the roots.
struct TreeTop {
    std::vector<NodeLink> link;       ///< of the nodes above the roots, breadth first
    std::vector<std::uint32_t> next;  ///< [link.size() + parts] as in OctreeView, where `end` is the number of nodes of the merged tree
    static constexpr std::uint32_t end = ~0u;
};

/// The top of a tree of this many parts: node link.size() + p is the root of part p. One part needs none.
TreeTop tree_top(std::uint32_t parts);

/// Motion of a body from the time of its part, in tree units of length.
struct BodyMotion {
    Vec3<float> velocity, acceleration;
};
/// Motion of the nodes and bodies of a part from its time.
struct PartMotion {
    const Vec3<float>* node;  ///< [nodes], velocities of the centres
    const BodyMotion* body;   ///< [bodies]
};

/// The values of a node that change when its bodies move.
struct alignas(16) NodeValues {
    Body center;
    float radius2, weight;  ///< NodeTest
    Quadrupole quadrupole;  ///< not used with monopoles
};

KS_FN NodeValues node_values(const OctreeView& tree, std::uint32_t node) {
    return {tree.center[node], tree.test[node].radius2, tree.test[node].weight, tree.quadrupole ? tree.quadrupole[node] : Quadrupole{}};
}

template <Space S>
class MergedTree {
   public:
    explicit MergedTree(S on) : on_(on) {}

    /// Begins a tree of LETs of these sizes, each with nodes: takes memory and, if it does not join the own tree, copies the own bodies.
    /// Without LETs the tree has no nodes.
    /// @param arrays  of the own tree and of the LETs   @param joins  the LETs stand after the own tree, in its memory
    /// @throws ComputationError: together they have more nodes or bodies than a tree can number
    void begin(Octree<S>& own, const EssentialArrays& arrays, const std::vector<EssentialSize>& parts, bool joins);
    /// Adds the LETs of begin(). They have the frame of the own tree.
    void add(const std::vector<OctreeView>& lets);
    /// Copies the present positions of these bodies, the targets of the next walk; begin() has done it for all bodies.
    /// @param own  that of begin(), which did not join it
    void place_targets(const OctreeView& own, const WalkTargets& targets);
    /// Moves centres and bodies from their places in the LETs. @param motion  of each LET   @param elapsed  time since that of the LETs
    void move(const std::vector<OctreeView>& lets, const std::vector<PartMotion>& motion, double elapsed);
    /// Replaces the bodies of a part with these numbers.
    void replace_bodies(std::size_t part, View<const std::uint32_t> number, View<const Body> body);
    /// Replaces the values of nodes of an LET.
    void replace_nodes(std::size_t part, View<const EssentialNode> number, View<const NodeValues> values);
    OctreeView view() const { return view_; }

   private:
    /// Places of the nodes and bodies of a part.
    struct Place {
        std::uint32_t root, first, first_body;  ///< places of the root, of node 1, and of body 0
        std::uint32_t behind;                   ///< place of the node after the subtree
    };

    /// Calls parallel_for() with make(parts) for the nodes and bodies of LETs, many at once. @param motion  of each LET, or empty
    template <class Make>
    void for_parts(const std::vector<OctreeView>& lets, const std::vector<PartMotion>& motion, Make make) const;

    S on_;
    std::vector<Place> place_;  ///< of each LET
    Buffer<Body, S> body_, center_;
    Buffer<NodeTest, S> test_;
    Buffer<NodeLink, S> link_;
    Buffer<std::uint32_t, S> next_;
    Buffer<Quadrupole, S> quadrupole_;
    Buffer<float, S> body_term_, node_term_;
    /// A TreeTop on the space.
    struct Top {
        std::uint32_t roots = 0;
        Buffer<NodeLink, S> link;
        Buffer<std::uint32_t, S> next;
    };
    Top top_;
    OctreeView view_;
};

/// 0, 1, ..., n - 1.
template <Space S>
Buffer<std::uint32_t, S> ascending(S on, index_t n);

/// Adds the values of `more` at these targets to those of `to`. @param more  has the arrays that `to` has
template <Space S>
void add_field(S on, const WalkTargets& targets, const WalkField& more, const WalkField& to);

}  // namespace kasane::gravity
