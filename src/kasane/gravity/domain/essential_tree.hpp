// The locally essential tree (LET) of a domain for another one: the nodes of its tree that no walk there can do without ([OMBMN12]
// section 6.3). A node that may be accepted for every target of the other domain is sent without its children; other nodes are sent with
// their children, leaves with their bodies.
// Invariants: an LET is a tree that walks accept as any other. A node without its children is a leaf without bodies that any group of
// targets accepts: each target alone may accept it, and a group that is not in one of the boxes of the domain would have to open it only
// because of the box around the group. Children are contiguous and nodes in breadth-first order.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <cstddef>
#include <vector>

namespace kasane::gravity {

/// Numbers of an LET: they determine the size of its message.
struct EssentialSize {
    std::uint64_t nodes = 0, bodies = 0;
};

/// An inner node of an LET has so many bodies for the walks, which read the bodies of small nodes instead of their children: an LET has no
/// contiguous bodies of inner nodes.
inline constexpr std::uint32_t inner_bodies = 1u << 16;

/// Arrays that an LET has besides its moments: those of the sender's tree.
struct EssentialArrays {
    bool quadrupole, terms;
};

/// Bytes of the message of an LET.
index_t essential_bytes(const EssentialSize& size, const EssentialArrays& arrays);
/// The LET in a message. Its nodes and bodies count from 0. @param message  [essential_bytes], aligned to 16 bytes
OctreeView essential_view(const std::byte* message, const EssentialSize& size, const EssentialArrays& arrays, const Frame& frame);

/// A node of an LET: its number in the sender's tree (or in the LET), and the kind of its content.
struct EssentialNode {
    enum Kind : std::uint32_t {
        inner,   ///< its children
        bodies,  ///< its bodies
        closed,  ///< nothing: always_accepted()
    };
    std::uint32_t word;  ///< node | kind << 29

    KS_FN static EssentialNode make(std::uint32_t node, Kind kind) { return {node | static_cast<std::uint32_t>(kind) << 29}; }
    KS_FN std::uint32_t node() const { return word & (largest_node_count - 1); }
    KS_FN Kind kind() const { return static_cast<Kind>(word >> 29); }
};

/// The LET of a tree for one other domain, on the sender's side.
template <Space S>
struct EssentialPart {
    explicit EssentialPart(S on) : node(on, 0), message(on, 0) {}

    EssentialSize size;
    Buffer<EssentialNode, S> node;  ///< [size.nodes]
    Buffer<std::byte, S> message;   ///< essential_bytes(size) or more
};

/// A domain for which an LET is made: its boxes, and the LET.
template <Space S>
struct EssentialRequest {
    View<const TargetBox> box;  ///< [TargetBoxLayout::size]
    EssentialPart<S>* part;
};

/// Selects and packs LETs of one tree.
template <Space S>
class EssentialTree {
   public:
    explicit EssentialTree(S on) : on_(on), work_(on), offset_(on, 0), state_(on, 0), queue_(on, 0), count_(on, 0), size_(on, 0) {}

    /// Makes the LETs of a tree for the targets of several domains; that of a domain without targets is empty. Waits for the space.
    /// @param levels   Octree::levels()   @param spline  pairs have the spline kernel
    void make(const OctreeView& tree, const std::vector<std::uint32_t>& levels, const std::vector<EssentialRequest<S>>& requests,
              bool spline);

    /// LETs that are made at once; each takes 17 bytes per node of the tree. Those of large trees are made one after the other.
    static constexpr int at_once = 4;
    static constexpr index_t large_tree = index_t{1} << 22;  ///< nodes
    /// Bytes per node of such a tree while LETs for so many other workers are made.
    static constexpr double node_bytes(double nodes, int others) {
        return 17. * (nodes < static_cast<double>(large_tree) ? (others < at_once ? others : at_once) : 1);
    }

   private:
    S on_;
    Workspace<S> work_;
    Buffer<std::uint32_t, S> offset_;  ///< of each LET: flags of the nodes [nodes + 1], counts of their bodies [nodes + 1]; then their sums
    Buffer<std::uint8_t, S> state_;    ///< of each LET [nodes]
    Buffer<std::uint32_t, S> queue_;   ///< Cuda [at_once nodes]: nodes to test, and LET << 29, level by level
    Buffer<std::uint32_t, S> count_;   ///< Cuda: of each level, its first element in `queue_` and their number
    Buffer<std::uint64_t, S> size_;    ///< of each LET: nodes and bodies
};

}  // namespace kasane::gravity
