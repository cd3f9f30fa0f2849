// The octree over particles in curve order, built where they live. Everything inside is in tree units: lengths are relative to
// frame.center in units of frame.length (the root cube is [-1, 1]^3), masses in units of frame.mass, both powers of two, so that
// float never runs out of range and scaling rounds nothing.
// Invariants: nodes stand in breadth-first order, the root first, the children of a node contiguous and in curve order; every node
// covers body[begin, begin + count); leaves hold at most leaf_size bodies, or are on the deepest level. Particles outside the root
// cube (escapers) belong to cells at its border: moments, b and boxes are made from the bodies themselves, so no criterion is
// fooled by it.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/tree/curve.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// Tree units: x_tree = (x - center) / length, m_tree = m / mass. length and mass are powers of two.
struct Frame {
    Vec3<double> center;
    double length = 1, mass = 1;
};

/// A point mass in tree units, of a particle or of a cell (at its centre of mass).
struct alignas(16) Body {
    float x, y, z, m;
};

/// What a walk asks of a node, in tree units with G = 1: the node may be accepted by a group of targets at distance d of its centre
/// of mass when  d^2 > radius2  and  d^k a > weight, where a is the least acceleration of the group (1 for criteria without it) and
/// k = 4 for monopoles, 5 with quadrupoles; and when it holds none of the targets.
///   geometric:    radius2 = (l/theta + s)^2,  weight = 0
///   acceleration: radius2 = b^2,              weight = m b^2 / delta  or  m b^3 / delta
///   multipole:    radius2 = the bound's d^2,  weight = 0
struct alignas(16) NodeTest {
    float radius2, weight;
    std::uint32_t begin;  ///< first body
    std::uint32_t count;  ///< of bodies
};

/// Second moments about the centre of mass, sum m d_i d_j, in tree units (not traceless: softening couples the trace).
struct Quadrupole {
    float xx, xy, xz, yy, yz, zz;
};

/// Children of a node: first | (number - 1) << 29; `leaf` for a leaf.
using NodeLink = std::uint32_t;
inline constexpr NodeLink leaf = 0xffffffffu;
inline constexpr std::uint32_t largest_node_count = 1u << 29;
KS_FN std::uint32_t first_child(NodeLink link) { return link & (largest_node_count - 1); }
KS_FN std::uint32_t child_count(NodeLink link) { return (link >> 29) + 1; }

/// The tree as walks see it: pointers on its space.
struct OctreeView {
    const Body* body = nullptr;  ///< [bodies], in curve order
    index_t bodies = 0;
    const Body* center = nullptr;            ///< [nodes], mass and centre of mass
    const NodeTest* test = nullptr;          ///< [nodes]
    const NodeLink* link = nullptr;          ///< [nodes]
    const std::uint32_t* next = nullptr;     ///< [nodes], where a depth-first walk goes on behind this subtree; `nodes` at the end
    const Quadrupole* quadrupole = nullptr;  ///< [nodes], null for monopoles
    index_t nodes = 0;
    Frame frame;
};

namespace detail {
/// In which order refresh() makes the nodes: parents after their children.
template <Space S>
struct RefreshPlan {
    std::vector<std::uint32_t> levels{0};  ///< Cpu: levels of all nodes, as Octree::levels(); Cuda: of `inner`
    Buffer<std::uint32_t, S> inner;        ///< Cuda: nodes with children, and leaves of many bodies, by level
    Buffer<std::uint32_t, S> leaves;       ///< Cuda: all other leaves
    std::uint32_t leaf_count = 0;
};
}  // namespace detail

template <Space S>
class Octree {
   public:
    Octree(S on, const Tree& options);

    /// Chooses the frame, makes the keys and sorts them: order()[k] is the index in these arrays of the particle that comes k-th.
    /// The caller then puts everything that belongs to the particles into that order, and calls place() and build().
    /// @throws ComputationError when there are more than 2^31 - 1 particles
    void sort(View<const Vec3<double>> position, View<const double> mass);
    View<const std::uint32_t> order() const { return order_.view(); }

    /// Divides the particles, in the order just made, into cells: topology only.
    void build();

    /// Bodies from particles in curve order.
    void place(View<const Vec3<double>> position, View<const double> mass);
    /// Bodies to be written by the caller, in tree units, in curve order: what the step predicts.
    View<Body> bodies() { return body_.view(); }
    const Frame& frame() const { return frame_; }

    /// Moments, b and acceptance of every node from the present bodies, on the present topology.
    void refresh();
    /// Acceptance alone is made anew with another criterion (the first force of all uses a geometric one).
    void set_mac(const Mac& mac);

    OctreeView view() const;
    /// First node of each level and, last, the number of nodes.
    const std::vector<std::uint32_t>& levels() const { return levels_; }

   private:
    void make_plan();

    S on_;
    Tree options_;
    Workspace<S> work_;
    Frame frame_;
    Buffer<Body, S> body_;
    Buffer<std::uint64_t, S> key_, key_scratch_;  ///< key_scratch_ also holds bounds while building, and extents behind refresh()
    Buffer<std::uint32_t, S> order_, order_scratch_;
    Buffer<Body, S> center_;
    Buffer<NodeTest, S> test_;
    Buffer<NodeLink, S> link_;
    Buffer<std::uint32_t, S> next_;
    Buffer<Quadrupole, S> quadrupole_;
    std::vector<std::uint32_t> levels_{0};
    detail::RefreshPlan<S> plan_;
};

}  // namespace kasane::gravity
