// The octree over particles in curve order, built on their space. All its data are in tree units: lengths are relative to
// frame.center in units of frame.length (the root cube is [-1, 1]^3), masses in units of frame.mass. Both are powers of two, so that
// values stay in the range of float and scaling is exact.
// Invariants: nodes are in breadth-first order, the root first; the children of a node are contiguous and in curve order; every node
// covers body[begin, begin + count); a leaf has at most leaf_size bodies, or is on the deepest level. Particles outside the root
// cube (escapers) belong to cells at its border. Moments, b and boxes come from the bodies themselves, so that criteria stay valid
// for such cells.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/growing_buffer.hpp>
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

/// The acceleration criterion accepts no cell nearer than this times b. Its error estimate m b^3 / d^5 is that of a distant cell: where |a|
/// is large, in a tight cluster, it alone would accept cells at d = b, whose expansion does not converge (docs/tree-code.md).
inline constexpr float nearest_cell = 1.25f;

/// Acceptance test of a node, in tree units with G = 1. A group of targets at distance d from the node's centre of mass may accept the
/// node if  d^2 > radius2  and  d^k a > weight  and the node holds none of the targets; a is the smallest acceleration of the group (1
/// for criteria without it), k = 4 for monopoles and 5 with quadrupoles.
///   geometric:    radius2 = (l/theta + s)^2,  weight = 0
///   acceleration: radius2 = (1.25 b)^2,       weight = m b^2 / delta  or  m b^3 / delta
///   multipole:    radius2 = d^2 of the bound, weight = 0
/// A node that any group accepts has the negative of its radius2, and a negative weight (always_accepted()).
struct alignas(16) NodeTest {
    float radius2, weight;
    std::uint32_t begin;  ///< first body
    std::uint32_t count;  ///< number of bodies
};

/// The test of a node without children and bodies, in their place: any group must accept it.
KS_FN NodeTest always_accepted(const NodeTest& test) { return {-1e-37f - test.radius2, -1, test.begin, 0}; }

/// Second moments about the centre of mass, sum m d_i d_j, in tree units (with their trace, which softening couples).
struct Quadrupole {
    float xx, xy, xz, yy, yz, zz;
};

/// Softening terms of the bodies of a node, in tree units. They depend on masses and topology, not on positions.
struct alignas(16) SofteningMoments {
    float mass, mean, variance, most;  ///< mean and variance are weighted by mass
};

/// Children of a node: first | (number - 1) << 29; `leaf` for a leaf.
using NodeLink = std::uint32_t;
inline constexpr NodeLink leaf = 0xffffffffu;
inline constexpr std::uint32_t largest_node_count = 1u << 29;
KS_FN std::uint32_t first_child(NodeLink link) { return link & (largest_node_count - 1); }
KS_FN std::uint32_t child_count(NodeLink link) { return (link >> 29) + 1; }

/// Velocities of bodies in tree units of length per time, and a list of bodies.
struct BodyMotions {
    struct alignas(8) XY {
        float x, y;
    };
    XY* xy;
    float* z;
    std::uint32_t* list;
};

/// Motion of bodies since the time of their positions.
struct BodyDrift {
    const BodyMotions::XY* xy = nullptr;  ///< [bodies], tree units of length per time; null: bodies do not move
    const float* z = nullptr;
    float elapsed = 0;  ///< [time]

    /// Body i at the present time.
    KS_FN Body at(const Body* body, index_t i) const {
        Body b = body[i];
        if (xy) b.x += elapsed * xy[i].x, b.y += elapsed * xy[i].y, b.z += elapsed * z[i];
        return b;
    }
};

/// Motion of the nodes that a plan does not compute, since an earlier time.
struct NodeDrift {
    const Body* then = nullptr;              ///< [nodes], centres at that time; null: nodes do not move
    const Vec3<float>* velocity = nullptr;   ///< [nodes], tree units of length per time
    const std::uint8_t* computed = nullptr;  ///< [nodes], 1 for nodes of the plan
    float elapsed = 0;                       ///< [time]

    /// The centre of a node, which the plan does not compute, at the present time.
    KS_FN Body at(index_t i) const {
        Body c = then[i];
        c.x += elapsed * velocity[i].x, c.y += elapsed * velocity[i].y, c.z += elapsed * velocity[i].z;
        return c;
    }
};

/// The arrays of the tree that a walk reads: pointers on its space.
struct OctreeView {
    const Body* body = nullptr;  ///< [bodies], in curve order
    BodyDrift drift;             ///< of `body`
    index_t bodies = 0;
    const Body* center = nullptr;            ///< [nodes], mass and centre of mass
    const NodeTest* test = nullptr;          ///< [nodes]
    const NodeLink* link = nullptr;          ///< [nodes]
    const std::uint32_t* next = nullptr;     ///< [nodes], next node of a depth-first walk after this subtree; `nodes` at the end
    const Quadrupole* quadrupole = nullptr;  ///< [nodes], null for monopoles
    index_t nodes = 0;
    std::uint32_t second_root = 0;  ///< root of a second tree, after all nodes of the first one; walks visit both. 0: there is none
    Frame frame;
    // Where pairs combine softenings, in tree units; else null:
    const float* body_term = nullptr;  ///< [bodies], softening term
    const float* node_term = nullptr;  ///< [nodes], Plummer: mean of the bodies' terms, weighted by mass; spline: their largest

    /// Body i at the present time.
    KS_FN Body body_at(index_t i) const { return drift.at(body, i); }
};

/// Nodes that refresh() computes, and their order: parents after their children.
template <Space S>
struct RefreshPlan {
    std::vector<std::uint32_t> levels{0};  ///< first element of each level in `inner`, and its length
    Buffer<std::uint32_t, S> inner;        ///< nodes by level; Cpu: empty for all nodes. Cuda: without the leaves below
    Buffer<std::uint32_t, S> leaves;       ///< Cuda: leaves of few bodies
    std::uint32_t leaf_count = 0;
    Buffer<std::uint32_t, S> parent;  ///< Cuda [nodes]: parents of the nodes in `inner`
    mutable Buffer<std::uint32_t, S>
        waiting;  ///< Cuda [nodes]: children in `inner` << 16, and how many of them are computed: 0 between launches
};

template <Space S>
class Octree {
   public:
    Octree(S on, const Tree& options);

    /// Chooses the frame from these particles; bodies() then has one element for each.
    /// @throws ComputationError: more than 2^31 - 1 particles, or a particle that is not finite
    void choose_frame(View<const Vec3<double>> position, View<const double> mass);
    /// The same with a given frame, for a tree that has n of the particles for which the frame was chosen.
    void use_frame(const Frame& frame, index_t n);
    /// Computes the keys of bodies(), which the caller has written: keys() in the order of the bodies.
    void make_keys();
    /// The memory of the keys, for a caller that moves particles with the keys of make_keys() and then calls sort_keys().
    GrowingBuffer<std::uint64_t, S>& key_memory() { return key_; }
    /// Sorts the keys: order()[k] is the index of the k-th body on the curve. The caller then permutes all arrays of the particles into
    /// that order, calls build(), and writes the bodies again.
    void sort_keys();
    /// make_keys() and sort_keys().
    void sort();
    /// choose_frame(), place() and sort().
    void sort(View<const Vec3<double>> position, View<const double> mass);
    View<const std::uint32_t> order() const { return order_.view(); }
    /// The keys of the last sort(), ascending, or of make_keys(). Order and keys are lost where motions() is written.
    View<const std::uint64_t> keys() const { return key_.view(); }

    /// Divides the particles, in the order of the last sort(), into cells: topology only.
    /// @param softening [n]  in that order, where pairs combine softenings; empty: that of the options. It is copied
    void build(View<const double> softening = {});

    /// Writes the bodies, from particles in curve order.
    void place(View<const Vec3<double>> position, View<const double> mass);
    /// The bodies, in tree units and curve order, for a caller that writes them: the step writes predicted positions.
    View<Body> bodies() { return body_.view(); }
    const Frame& frame() const { return frame_; }
    /// Masses and centres of mass of the nodes.
    View<const Body> centers() const { return center_.view().subview(0, levels_.back()); }

    /// Adds a motion to the bodies until the next place() or refresh() of all nodes: walks and refresh(plan) add it where they read bodies.
    void set_drift(const BodyDrift& drift) { drift_ = drift; }
    /// Memory [bodies] for a motion of the bodies, that of keys() and order(): until the next sort().
    BodyMotions motions() {
        return {reinterpret_cast<BodyMotions::XY*>(key_.data()), reinterpret_cast<float*>(order_.data()), order_scratch_.data()};
    }

    /// Computes moments, b and acceptance of every node from the present bodies, on the present topology.
    void refresh();
    /// Lists the flagged nodes for refresh(plan). Waits for the space. @param flag [nodes]  a node with a flagged child has a flag too
    void plan(View<const std::uint8_t> flag, RefreshPlan<S>& plan);
    /// Computes the nodes of a plan alone: from the present bodies, and from the moments that the other nodes have.
    /// @param others  moves the centres of the other nodes
    void refresh(const RefreshPlan<S>& plan, const NodeDrift& others = {});
    /// Changes the criterion and calls refresh(). (The first force of a run uses a geometric criterion.)
    void set_mac(const Mac& mac);

    /// Takes memory for this many nodes and bodies of a second tree after those of this one (OctreeView::second_root), until the next
    /// build. Views made before are not valid any more.
    void reserve_behind(index_t nodes, index_t bodies);

    OctreeView view() const;
    /// First node of each level and, last, the number of nodes.
    const std::vector<std::uint32_t>& levels() const { return levels_; }

   private:
    void make_plan();
    /// Computes the softening terms of the bodies.
    void set_softening(View<const double> softening);
    /// Computes the softening moments of all nodes, from the masses of the bodies.
    void soften_nodes();

    S on_;
    Tree options_;
    Workspace<S> work_;
    Frame frame_;
    GrowingBuffer<Body, S> body_;
    BodyDrift drift_;
    GrowingBuffer<std::uint64_t, S> key_;
    Buffer<std::uint64_t, S> key_scratch_;  ///< also holds bounds in build() and extents in refresh()
    GrowingBuffer<std::uint32_t, S> order_, order_scratch_;
    Buffer<Body, S> center_;
    Buffer<NodeTest, S> test_;
    Buffer<NodeLink, S> link_;
    Buffer<std::uint32_t, S> next_;
    Buffer<Quadrupole, S> quadrupole_;
    std::vector<std::uint32_t> levels_{0};
    RefreshPlan<S> plan_;
    bool combines_ = false;  ///< pairs combine softenings; the arrays below are empty if they do not
    bool softened_ = false;  ///< the nodes have softening moments of the present topology
    Buffer<float, S> body_term_, node_term_;
    Buffer<SofteningMoments, S> softening_moments_;
};

}  // namespace kasane::gravity
